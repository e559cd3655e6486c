// Queries as the API reads them: plain values, times, and objects as `metadata[order]=A-1001`.
// Pure.

export function queryString(query: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (value instanceof Date) add(name, value.toISOString());
    else if (Array.isArray(value)) for (const one of value) add(name, one);
    else if (typeof value === 'object') for (const [key, one] of Object.entries(value)) add(`${name}[${key}]`, one);
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  };
  for (const [name, value] of Object.entries(query)) add(name, value);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
