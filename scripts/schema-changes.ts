// Finds changes of a JSON Schema (as OpenAPI 3.1 uses it) that would break a client which was right before.
// Pure: compares two documents in memory; knows nothing of paths, operations or git.

export type Json = Readonly<Record<string, unknown>>;

/** `request`: what a client sends must still be accepted. `response`: what a client receives must still be what it was told. */
export type Direction = 'request' | 'response';

export interface Documents {
  readonly before: Json;
  readonly after: Json;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectAt(value: unknown, key: string): Json {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Follows `$ref` within the document. The bound is far above any honest chain of references. */
export function resolve(document: Json, value: unknown): Json {
  let current = value;
  for (let hops = 0; hops < 32; hops++) {
    if (!isObject(current)) return {};
    const reference = current.$ref;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return current;
    const siblings = Object.fromEntries(Object.entries(current).filter(([key]) => key !== '$ref'));
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, part) => (isObject(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined), document);
    current = isObject(target) ? { ...target, ...siblings } : {};
  }
  return {};
}

/** A schema with its `allOf` folded in, so that only one object is left to look at. */
function flatten(document: Json, value: unknown, depth = 0): Json {
  const schema = resolve(document, value);
  const parts = list(schema.allOf);
  if (parts.length === 0 || depth > 16) return schema;
  let merged: Json = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'allOf'));
  for (const part of parts) {
    const flat = flatten(document, part, depth + 1);
    merged = {
      ...flat,
      ...merged,
      properties: { ...objectAt(flat, 'properties'), ...objectAt(merged, 'properties') },
      required: [...new Set([...list(flat.required), ...list(merged.required)])],
    };
  }
  return merged;
}

/** The alternatives of a schema, null apart: `anyOf: [x, null]` and `type: [x, "null"]` say the same. */
function alternatives(document: Json, value: unknown): { variants: Json[]; nullable: boolean } {
  const schema = flatten(document, value);
  const choices = list(schema.anyOf).length > 0 ? list(schema.anyOf) : list(schema.oneOf);
  const all = choices.length === 0 ? [schema] : choices.map((choice) => flatten(document, choice));
  let nullable = false;
  const variants: Json[] = [];
  for (const variant of all) {
    if (variant.type === 'null' || variant.const === null) {
      nullable = true;
      continue;
    }
    if (Array.isArray(variant.type) && variant.type.includes('null')) {
      nullable = true;
      const types = variant.type.filter((type) => type !== 'null');
      variants.push({ ...variant, type: types.length === 1 ? types[0] : types });
    } else {
      variants.push(variant);
    }
  }
  return { variants, nullable };
}

function typesOf(schema: Json): string[] | null {
  if (typeof schema.type === 'string') return [schema.type];
  return Array.isArray(schema.type) ? schema.type.map(String) : null;
}

/** Whether every value of `inner` types is one of the `outer` types. No type at all means any value. */
function typesFit(inner: string[] | null, outer: string[] | null): boolean {
  if (outer === null) return true;
  if (inner === null) return false;
  return inner.every((type) => outer.includes(type) || (type === 'integer' && outer.includes('number')));
}

function valuesOf(schema: Json): readonly unknown[] | null {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : null;
}

const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'] as const;
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'] as const;

/** What narrows a single value: its type, its allowed values, its bounds and its form. */
function compareValue(before: Json, after: Json, direction: Direction, at: string): string[] {
  const changes: string[] = [];
  const [was, is] = [typesOf(before), typesOf(after)];
  const fits = direction === 'request' ? typesFit(was, is) : typesFit(is, was);
  if (!fits) changes.push(`${at}: type changed from ${was?.join('|') ?? 'any'} to ${is?.join('|') ?? 'any'}`);
  if (before.format !== after.format && (direction === 'response' ? before.format : after.format) !== undefined) {
    changes.push(`${at}: format changed from ${String(before.format ?? 'none')} to ${String(after.format ?? 'none')}`);
  }
  if (direction === 'response') return changes;
  const [allowed, allowedNow] = [valuesOf(before), valuesOf(after)];
  if (allowedNow !== null && allowed === null) changes.push(`${at}: any value was allowed, now only ${JSON.stringify(allowedNow)}`);
  if (allowedNow !== null && allowed !== null) {
    for (const value of allowed)
      if (!allowedNow.includes(value)) changes.push(`${at}: value ${JSON.stringify(value)} is no longer accepted`);
  }
  if (after.pattern !== undefined && after.pattern !== before.pattern) changes.push(`${at}: pattern changed`);
  for (const bound of lowerBounds) {
    const [low, lowNow] = [before[bound], after[bound]];
    if (typeof lowNow === 'number' && (typeof low !== 'number' || lowNow > low)) changes.push(`${at}: ${bound} raised to ${lowNow}`);
  }
  for (const bound of upperBounds) {
    const [high, highNow] = [before[bound], after[bound]];
    if (typeof highNow === 'number' && (typeof high !== 'number' || highNow < high)) changes.push(`${at}: ${bound} lowered to ${highNow}`);
  }
  return changes;
}

function compareProperties(
  documents: Documents,
  before: Json,
  after: Json,
  direction: Direction,
  at: string,
  seen: ReadonlySet<string>,
): string[] {
  const changes: string[] = [];
  const [was, is] = [objectAt(before, 'properties'), objectAt(after, 'properties')];
  const [required, requiredNow] = [list(before.required), list(after.required)];
  for (const [name, schema] of Object.entries(was)) {
    if (is[name] === undefined) changes.push(`${at}.${name}: property removed`);
    else changes.push(...compareSchemas(documents, schema, is[name], direction, `${at}.${name}`, seen));
  }
  if (direction === 'request') {
    for (const name of requiredNow) if (!required.includes(name)) changes.push(`${at}.${String(name)}: now required`);
    if (after.additionalProperties === false && before.additionalProperties !== false && before.type === 'object') {
      changes.push(`${at}: unknown properties are no longer accepted`);
    }
  } else {
    for (const name of required) {
      if (is[String(name)] !== undefined && !requiredNow.includes(name)) changes.push(`${at}.${String(name)}: no longer always present`);
    }
  }
  if (isObject(before.additionalProperties) && isObject(after.additionalProperties)) {
    changes.push(...compareSchemas(documents, before.additionalProperties, after.additionalProperties, direction, `${at}.*`, seen));
  }
  return changes;
}

function compareVariant(
  documents: Documents,
  before: Json,
  after: Json,
  direction: Direction,
  at: string,
  seen: ReadonlySet<string>,
): string[] {
  const changes = compareValue(before, after, direction, at);
  if (changes.some((change) => change.includes(': type changed'))) return changes;
  changes.push(...compareProperties(documents, before, after, direction, at, seen));
  if (before.items !== undefined && after.items !== undefined) {
    changes.push(...compareSchemas(documents, before.items, after.items, direction, `${at}[]`, seen));
  }
  return changes;
}

/** Every breaking difference between two schemas, each as one line that says where and what. */
export function compareSchemas(
  documents: Documents,
  before: unknown,
  after: unknown,
  direction: Direction,
  at: string,
  seen: ReadonlySet<string> = new Set(),
): string[] {
  // A schema that holds itself: the pair is being compared further up already.
  const pair = isObject(before) && isObject(after) && before.$ref && after.$ref ? `${String(before.$ref)} ${String(after.$ref)}` : null;
  if (pair !== null && seen.has(pair)) return [];
  const within = pair === null ? seen : new Set([...seen, pair]);
  const was = alternatives(documents.before, before);
  const is = alternatives(documents.after, after);
  const changes: string[] = [];
  if (direction === 'request' && was.nullable && !is.nullable) changes.push(`${at}: null is no longer accepted`);
  if (direction === 'response' && !was.nullable && is.nullable) changes.push(`${at}: may now be null`);
  const compare = (old: Json, current: Json): string[] => compareVariant(documents, old, current, direction, at, within);
  const [first, firstNow] = [was.variants[0], is.variants[0]];
  if (was.variants.length === 1 && is.variants.length === 1 && first !== undefined && firstNow !== undefined) {
    return [...changes, ...compare(first, firstNow)];
  }
  // Several alternatives: in a request each old one must still be accepted, in a response each present one must have been promised.
  if (direction === 'request') {
    const lost = was.variants.filter((old) => !is.variants.some((current) => compare(old, current).length === 0));
    if (lost.length > 0) changes.push(`${at}: ${lost.length} of ${was.variants.length} alternatives no longer accepted`);
  } else {
    const fresh = is.variants.filter((current) => !was.variants.some((old) => compare(old, current).length === 0));
    if (fresh.length > 0) changes.push(`${at}: ${fresh.length} alternatives that were not promised before`);
  }
  return changes;
}
