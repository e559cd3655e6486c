// The figures of a run as one picture (SVG): for each work a bar a server, the longest being the fastest.
// Pure. Readable on light and on dark paper: the colours follow the reader's.

import { whole } from './report.ts';
import type { WorkResult } from './results.ts';

const WIDTH = 760;
const LABEL_WIDTH = 110;
const VALUE_WIDTH = 110;
const BAR_WIDTH = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
const BAR_HEIGHT = 16;
const BAR_GAP = 4;
const TITLE_HEIGHT = 34;
const HEAD_HEIGHT = 56;
const FOOT_HEIGHT = 14;

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .head { font-size: 16px; font-weight: 600; }
  .work { font-weight: 600; }
  .quiet { fill: #59636e; }
  .bar { fill: #9aa4af; }
  .own { fill: #0969da; }
  .second { fill: #54aeff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .bar { fill: #656c76; }
    .own { fill: #4493f8; }
    .second { fill: #1f6feb; }
  }`;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] as string);

const classOf = (server: string): string => (server === 'tranche' ? 'own' : server === 'embedded' ? 'second' : 'bar');

function bars({ title, servers }: WorkResult, top: number): { readonly parts: string[]; readonly bottom: number } {
  const entries = Object.entries(servers);
  const most = Math.max(...entries.map(([, { perSecond }]) => perSecond));
  const parts = [`<text class="work" x="0" y="${top + 22}">${escaped(title)}</text>`];
  let y = top + TITLE_HEIGHT;
  for (const [name, { perSecond }] of entries) {
    // A bar is never so short that it cannot be seen.
    const length = Math.max(2, Math.round((perSecond / most) * BAR_WIDTH));
    const baseline = y + BAR_HEIGHT - 3;
    parts.push(`<text class="quiet" x="0" y="${baseline}">${escaped(name)}</text>`);
    parts.push(`<rect class="${classOf(name)}" x="${LABEL_WIDTH}" y="${y}" width="${length}" height="${BAR_HEIGHT}" rx="3"/>`);
    parts.push(`<text x="${LABEL_WIDTH + length + 8}" y="${baseline}">${whole(perSecond)}</text>`);
    y += BAR_HEIGHT + BAR_GAP;
  }
  return { parts, bottom: y };
}

/** `title` names what is shown, `note` how to read it. */
export function picture(works: readonly WorkResult[], title: string, note: string): string {
  const parts = [`<text class="head" x="0" y="20">${escaped(title)}</text>`, `<text class="quiet" x="0" y="42">${escaped(note)}</text>`];
  let y = HEAD_HEIGHT;
  for (const work of works) {
    const drawn = bars(work, y);
    parts.push(...drawn.parts);
    y = drawn.bottom;
  }
  const height = y + FOOT_HEIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style}\n</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}
