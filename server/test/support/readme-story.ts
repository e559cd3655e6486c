// Reads a story told in Markdown: shell blocks with curl commands, each followed by the answer it shows; and compares answers with it.
// Understands only the shell that the README uses, and throws at anything else, so that the README stays simple to paste.

export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks, in order. */
export function blocksOf(markdown: string): Block[] {
  return Array.from(markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, language, text]) => ({
    language: language as string,
    text: text as string,
  }));
}

/** Without fenced blocks, where nothing is a link or a name of ours. */
export const proseOf = (markdown: string): string => markdown.replace(/^```.*?^```$/gms, '');

// --- curl -----------------------------------------------------------------------------------------------------------------------------

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** The words of one command: quotes and variables as a POSIX shell reads them, nothing else of it. */
function wordsOf(line: string, variables: ReadonlyMap<string, string>): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    const parts = Array.from(word.matchAll(/'([^']*)'|"([^"]*)"|[^'"]+/g), ([whole, single, double]) => {
      if (single !== undefined) return single;
      return (double ?? whole).replace(/\$(\w+)/g, (_, name: string) => {
        const value = variables.get(name);
        if (value === undefined) throw new Error(`the story uses $${name} before it is set`);
        return value;
      });
    });
    words.push(parts.join(''));
  }
  return words;
}

/** Runs the assignments of a block, through `realOf`, and returns its curl commands as requests. */
export function requestsOf(script: string, variables: Map<string, string>, realOf: (shown: string) => string): CurlRequest[] {
  const requests: CurlRequest[] = [];
  for (const line of script.replaceAll('\\\n', ' ').split('\n')) {
    const assignment = /^([A-Z_]+)=(\S+)$/.exec(line);
    if (assignment !== null) variables.set(assignment[1] as string, realOf(assignment[2] as string));
    else if (line.startsWith('curl ')) requests.push(curl(wordsOf(line, variables).slice(1)));
    else if (line.trim() !== '') throw new Error(`the story holds a line that is no curl command: ${line}`);
  }
  return requests;
}

function curl(words: readonly string[]): CurlRequest {
  let [method, url, body]: [string | null, string | null, string | null] = [null, null, null];
  const headers: Record<string, string> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '-i') continue;
    if (word === '-X') method = words[++at] as string;
    else if (word === '-d') body = words[++at] as string;
    else if (word === '-H') {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(words[++at] as string) as RegExpExecArray;
      headers[name as string] = value as string;
    } else if (word.startsWith('http')) url = word;
    else throw new Error(`the story uses a curl option that this test does not know: ${word}`);
  }
  if (url === null) throw new Error(`a curl command without a URL: ${words.join(' ')}`);
  return { method: method ?? (body === null ? 'GET' : 'POST'), url, headers, body };
}

// --- what is shown --------------------------------------------------------------------------------------------------------------------

export interface ShownMessage {
  /** `HTTP/1.1 201 Created` or `POST /webhooks HTTP/1.1`. */
  readonly first: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function shownMessage(text: string): ShownMessage {
  const gap = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, gap).split('\n');
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)] as const);
  return { first: first as string, headers: Object.fromEntries(headers), body: JSON.parse(text.slice(gap)) };
}

/** Values that are others at every run. */
const changing = [
  /^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/, // ids
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  /^req_\w+$/,
  /^tr_live_\w{4}$/, // the hint of a key
];

/**
 * Where the answer differs from what is shown. The same fields in the same order, and the same values but for ids, times and secrets, whose
 * forms must agree. `seen` learns which real value stands for which shown one.
 */
export function differences(shown: unknown, real: unknown, seen: Map<string, string>, path = ''): string[] {
  if (typeof shown === 'string' && typeof real === 'string') {
    const before = seen.get(shown);
    if (shown.endsWith('…')) {
      if (!real.startsWith(shown.slice(0, -1))) return [`${path}: ${real} instead of ${shown}`];
    } else if (shown !== real) {
      const form = changing.find((candidate) => candidate.test(shown));
      const sameKind = form?.test(real) === true && (!form.source.includes('{26}') || shown.slice(0, 4) === real.slice(0, 4));
      if (!sameKind || (before !== undefined && before !== real && form === changing[0]))
        return [`${path}: ${JSON.stringify(real)} instead of ${JSON.stringify(shown)}`];
    }
    seen.set(shown, real);
    return [];
  }
  if (typeof shown !== 'object' || typeof real !== 'object' || shown === null || real === null) {
    return shown === real ? [] : [`${path}: ${JSON.stringify(real)} instead of ${JSON.stringify(shown)}`];
  }
  const [wanted, given] = [Object.keys(shown).join(', '), Object.keys(real).join(', ')];
  if (wanted !== given) return [`${path}: has ${given} instead of ${wanted}`];
  return Object.entries(shown).flatMap(([name, value]) =>
    differences(value, (real as Record<string, unknown>)[name], seen, `${path}/${name}`),
  );
}
