// The part of the address after `?`: plain words, as `status=pending&q=web`, and always text.
// Knows no page; each route says which words it reads, with `searchOf`.

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(words.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

export type SearchOf<Name extends string> = { [name in Name]?: string };

/** For `validateSearch` of a route: takes these words and leaves every other out. */
export function searchOf<Name extends string>(...names: readonly Name[]): (search: Record<string, unknown>) => SearchOf<Name> {
  return (search) => {
    const read: SearchOf<Name> = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') read[name] = value;
    }
    return read;
  };
}
