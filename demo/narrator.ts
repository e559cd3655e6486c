// What the demo prints: numbered steps, what was asked and answered, and how long it took, in lines of up to 80 columns.
// Prints only. Colours on a terminal, unless NO_COLOR is set.

const COLUMNS = 80;
const coloured = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '';
const paint = (code: number, text: string): string => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);

const INDENT = '    ';
let step = 0;

/** Breaks a text at spaces so that no line passes the width; a longer word stays whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

export const narrator = {
  title(text: string): void {
    console.log(`\n${paint(1, text)}`);
  },
  /** What happens next, as one would tell it. */
  step(text: string): void {
    step += 1;
    const [first = '', ...rest] = wrap(text, COLUMNS - INDENT.length);
    console.log(`\n${paint(36, String(step).padStart(2))}  ${paint(1, first)}`);
    for (const line of rest) console.log(`${INDENT}${paint(1, line)}`);
  },
  /** One request and its answer. */
  request(method: string, path: string, status: number, elapsedMs: number): void {
    const left = `${method} ${path}`;
    const right = `${status}  ${elapsedMs.toFixed(1).padStart(6)} ms`;
    const gap = COLUMNS - INDENT.length - left.length - right.length;
    console.log(
      gap >= 2 ? `${INDENT}${paint(2, left)}${' '.repeat(gap)}${right}` : `${INDENT}${paint(2, left)}\n${right.padStart(COLUMNS)}`,
    );
  },
  say(text: string): void {
    for (const line of wrap(text, COLUMNS - INDENT.length)) console.log(`${INDENT}${line}`);
  },
  /** A line that must not be broken: a table row, a piece of JSON. */
  line(text: string): void {
    console.log(`${INDENT}${text}`);
  },
  good(text: string): void {
    console.log(`\n${paint(32, text)}\n`);
  },
  bad(text: string): void {
    console.error(`\n${paint(31, 'The demo stopped:')} ${text}\n`);
  },
};
