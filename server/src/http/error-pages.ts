// The pages that explain errors, made from the catalogue: what it means, what to do, which status it has.
// Plain HTML, readable on a phone and in the dark, without scripts.

import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import { problemStatus, problemType } from './problems.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --paper: #fff; --tint: #f4f6f8; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #30363d; --paper: #101317; --tint: #191e24; --link: #7ab7ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2rem 0 .25rem; }
p { margin: .25rem 0 1rem; }
a { color: var(--link); }
code { font: .9em ui-monospace, monospace; background: var(--tint); padding: .1em .35em; border-radius: .3em; overflow-wrap: anywhere; }
pre { background: var(--tint); padding: 1rem; border-radius: .5rem; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
nav, .status { color: var(--soft); }
ul { list-style: none; padding: 0; margin: 0; }
li { border-top: 1px solid var(--line); padding: .75rem 0; }
li p { margin: 0; color: var(--soft); }
`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function page(title: string, content: string): string {
  return (
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n` +
    `<title>${escapeHtml(title)} · Tranche</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<main>\n${content}\n</main>\n</body>\n</html>\n`
  );
}

export function errorPage(code: ErrorCode): string {
  const { title, meaning, fix } = errorCatalogue[code];
  const status = problemStatus[code];
  const example = JSON.stringify({ type: problemType(code), title, status, detail: '…', code, request_id: 'req_…' }, null, 2);
  return page(
    title,
    `<nav><a href="/docs/errors">All errors</a> · <a href="/docs/">Reference</a></nav>\n<h1>${escapeHtml(title)}</h1>\n` +
      `<p class="status"><code>${code}</code> · HTTP ${status}</p>\n<h2>What it means</h2>\n<p>${escapeHtml(meaning)}</p>\n` +
      `<h2>What to do</h2>\n<p>${escapeHtml(fix)}</p>\n<h2>What you receive</h2>\n<pre><code>${escapeHtml(example)}</code></pre>\n` +
      '<p class="status">The detail says what happened this time, and errors, where there are any, each field that is wrong. Decide by code: it is stable; words may improve.</p>',
  );
}

/** All errors, by status. `unknown` is a code that was asked for and does not exist. */
export function errorListPage(unknown?: string): string {
  const codes = (Object.keys(errorCatalogue) as ErrorCode[]).sort((a, b) => problemStatus[a] - problemStatus[b]);
  const items = codes.map(
    (code) =>
      `<li><a href="/docs/errors/${code}"><code>${code}</code></a> <span class="status">· ${problemStatus[code]}</span><p>${escapeHtml(errorCatalogue[code].title)}.</p></li>`,
  );
  const notice =
    unknown === undefined ? '' : `<p>There is no error <code>${escapeHtml(unknown.slice(0, 100))}</code>. These are all:</p>\n`;
  return page(
    'Errors',
    `<nav><a href="/docs/">Reference</a></nav>\n<h1>Errors</h1>\n${notice}<p>Every error is an <code>application/problem+json</code> (RFC 9457) whose <code>code</code> is one of these.</p>\n` +
      `<ul>\n${items.join('\n')}\n</ul>`,
  );
}
