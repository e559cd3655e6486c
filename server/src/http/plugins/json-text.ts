// What JSON.parse forgives without a word and money must not: a key given twice, of which one would be dropped, and a fraction with so
// many digits that it would be rounded to an integer. Looks at text that parsed already; knows no schema.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const MINUS = 0x2d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * Up to this length no fraction is read as an integer: the point leaves 16 digits, and one unit of the 16th is more than half of a
 * double's last place. Beyond it, 100.00000000000000001 would be 100.
 */
const MAX_EXACT_LENGTH = 17;

/** Whether a number that is no integer would be read as one. */
const isRounded = (number: string): boolean =>
  number.length > MAX_EXACT_LENGTH && Number.isSafeInteger(Number(number)) && !/^-?\d+\.0+$/.test(number);

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isNumberPart = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === MINUS || code === 0x65 || code === 0x45;

/** Where the string that begins at `start` ends: the place of its closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

/** What is wrong with the text of valid JSON, in words for its author; null when JSON.parse has read it all. */
export function jsonTextProblem(text: string): string | null {
  // The keys of each open object: nothing yet, the only one, or all of them.
  const open: (null | string | Set<string>)[] = [];
  // Seldom, and then the same key may be written in several ways.
  const hasEscapes = text.includes('\\');
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      let next = end + 1;
      while (isSpace(text.charCodeAt(next))) next += 1;
      if (text.charCodeAt(next) === COLON) {
        const key = hasEscapes ? (JSON.parse(text.slice(at, end + 1)) as string) : text.slice(at + 1, end);
        const known = open[open.length - 1] as null | string | Set<string>;
        if (known === key || (known instanceof Set && known.has(key))) return `the key ${JSON.stringify(key.slice(0, 100))} is given twice`;
        if (known instanceof Set) known.add(key);
        else open[open.length - 1] = known === null ? key : new Set([known, key]);
      }
      at = end;
    } else if (code === OPEN) open.push(null);
    else if (code === CLOSE) open.pop();
    else if (isNumberPart(code) && (code === MINUS || code <= 0x39)) {
      let end = at + 1;
      while (isNumberPart(text.charCodeAt(end))) end += 1;
      if (isRounded(text.slice(at, end)))
        return `the number ${text.slice(at, Math.min(end, at + 40))} has more digits than can be read exactly`;
      at = end - 1;
    }
  }
  return null;
}
