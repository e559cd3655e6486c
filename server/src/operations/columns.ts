// Breaks what is printed for people into the 80 columns of a terminal. Words only; a path or a key that is longer stays whole.

const COLUMNS = 80;

/** Every line after the first begins with `indent`; `taken` columns of the first are printed already. Line breaks of the text stay. */
export function inColumns(text: string, indent = '', taken = indent.length): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    const own = /^ */.exec(paragraph)?.[0] ?? '';
    let line = own;
    let room = COLUMNS - (lines.length === 0 ? taken : indent.length);
    for (const word of paragraph.slice(own.length).split(' ')) {
      if (line.trim() !== '' && line.length + 1 + word.length > room) {
        lines.push(line);
        line = own + word;
        room = COLUMNS - indent.length;
      } else line += line.trim() === '' ? word : ` ${word}`;
    }
    lines.push(line);
  }
  return lines.map((line, i) => (i === 0 || line === '' ? line : indent + line)).join('\n');
}
