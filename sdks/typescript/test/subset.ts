// Whether an answer is what a step of the scenario expects: the rules of "Subset" in sdks/scenarios/README.md.
// Pure.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What differs, as lines of `path: words`; empty when `actual` is as expected. */
export function differences(expected: Json, actual: unknown, path = ''): string[] {
  const at = path === '' ? 'it' : path;
  if (typeof expected === 'string' && expected.startsWith('@'))
    return matches(expected, actual) ? [] : [`${at}: ${show(actual)} is not ${expected}`];
  if (expected === null) return actual === null || actual === undefined ? [] : [`${at}: ${show(actual)} is not null`];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return [`${at}: ${show(actual)} is not an array of ${expected.length}`];
    return expected.flatMap((one: Json, index) => differences(one, actual[index], `${path}/${index}`));
  }
  if (typeof expected === 'object') {
    if (typeof actual !== 'object' || actual === null) return [`${at}: ${show(actual)} is not an object`];
    return Object.entries(expected).flatMap(([key, one]) => differences(one, (actual as Record<string, unknown>)[key], `${path}/${key}`));
  }
  return Object.is(expected, actual) ? [] : [`${at}: ${show(actual)} is not ${show(expected)}`];
}

function matches(rule: string, actual: unknown): boolean {
  const [word, ...rest] = rule.split(' ');
  const isThere = actual !== null && actual !== undefined;
  switch (word) {
    case '@present':
      return isThere;
    case '@absent':
      return !isThere;
    case '@match':
      return typeof actual === 'string' && new RegExp(rest.join(' ')).test(actual);
    case '@length':
      return (typeof actual === 'string' || Array.isArray(actual)) && actual.length === Number(rest[0]);
    default:
      throw new Error(`There is no rule ${rule}.`);
  }
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300);
