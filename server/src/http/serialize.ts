// Answers as JSON text: a function made once from a Zod schema, several times faster than the general JSON.stringify with checks.
// It only writes: it validates nothing, and a field that the schema does not name is left out of the text.

import fastJson from 'fast-json-stringify';
import { z } from 'zod';

type JsonSchema = { [keyword: string]: unknown };
export type Serializer = (value: object) => string;

const known = new WeakMap<z.ZodType, Serializer>();

/** The serializer of a schema's output. Made at the first call and kept, so that routes that share a schema share it. */
export function serializerOf(schema: z.ZodType): Serializer {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const json = z.toJSONSchema(schema, { target: 'draft-07', io: 'output', reused: 'inline', unrepresentable: 'any' });
  const definitions = (json.definitions ?? {}) as Record<string, JsonSchema>;
  const serializer = fastJson(reduce(json as JsonSchema, definitions, 0) as object as fastJson.Schema) as Serializer;
  known.set(schema, serializer);
  return serializer;
}

/** No resource nests deeper; a schema that refers to itself would be written out for ever. */
const MAX_SCHEMA_DEPTH = 16;

/**
 * Keeps what decides how a value is written and drops what only validates: patterns, lengths, examples. `X or null` becomes a
 * nullable X, because a real anyOf is decided by validating the value at every call, which costs more than all the rest.
 */
function reduce(schema: JsonSchema, definitions: Record<string, JsonSchema>, depth: number): JsonSchema {
  if (depth > MAX_SCHEMA_DEPTH) throw new Error('a schema of an answer refers to itself or nests too deep');
  const within = (inner: unknown): JsonSchema => reduce(inner as JsonSchema, definitions, depth + 1);
  if (typeof schema.$ref === 'string') {
    const target = definitions[schema.$ref.slice('#/definitions/'.length)];
    if (target === undefined) throw new Error(`a schema refers to ${schema.$ref}, which is not defined`);
    return within(target);
  }
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices !== undefined) {
    const others = choices.filter((choice) => choice.type !== 'null');
    if (others.length !== 1) return {}; // Several shapes: written by JSON.stringify.
    const only = within(others[0]);
    return others.length === choices.length ? only : nullable(only);
  }
  if (Array.isArray(schema.type)) {
    const others = schema.type.filter((type) => type !== 'null');
    if (others.length !== 1) return {};
    return nullable(within({ ...schema, type: others[0] }));
  }
  // A schema of one's own with another description comes as the only one of several that must hold.
  if (Array.isArray(schema.allOf)) return schema.allOf.length === 1 ? within(schema.allOf[0]) : {};
  if (schema.type === 'array') return { type: 'array', items: within(schema.items ?? {}) };
  if (schema.type === 'object') return reduceObject(schema, within);
  if (schema.type === 'string') return isPlain(schema) ? PLAIN_TEXT : { type: 'string' };
  if (typeof schema.type === 'string') return { type: schema.type };
  return {};
}

/** The name that fast-json-stringify has for text without anything to escape: it is put between quotes unseen. */
const PLAIN_TEXT: JsonSchema = { type: 'string', format: 'unsafe' };
/** A pattern of letters, digits, ranges of these and counts alone, such as those of ids and currencies. */
const PLAIN_PATTERN = /^\^(?:\w|\[(?:\d-\d|[a-z]-[a-z]|[A-Z]-[A-Z]|\w)+\]|\{\d+\})+\$$/;

/** What the schema says of its form leaves no room for a character that JSON escapes: choices, times, ids, codes. All of them are our own. */
function isPlain({ enum: choices, const: constant, format, pattern }: JsonSchema): boolean {
  const values = choices ?? (constant === undefined ? undefined : [constant]);
  if (Array.isArray(values)) return values.every((value) => JSON.stringify(value) === `"${value}"`);
  return format === 'date-time' || (typeof pattern === 'string' && PLAIN_PATTERN.test(pattern));
}

function nullable(schema: JsonSchema): JsonSchema {
  return schema.type === undefined ? schema : { ...schema, nullable: true };
}

function reduceObject(schema: JsonSchema, within: (inner: unknown) => JsonSchema): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, unknown>)) properties[name] = within(property);
  const reduced: JsonSchema = { type: 'object', properties, required: schema.required ?? [] };
  const extra = schema.additionalProperties;
  if (extra === true || (typeof extra === 'object' && extra !== null)) reduced.additionalProperties = extra === true ? true : within(extra);
  return reduced;
}
