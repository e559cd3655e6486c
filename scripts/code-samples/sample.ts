// What the samples of all languages begin with: an operation, the values of its example, and the name of what comes back.
// Knows no language.

import { nameOfRef, type Schema, type SdkOperation } from '../sdk-operations.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface Sample {
  readonly operation: SdkOperation;
  /** Examples of the ids in its path, in order. */
  readonly ids: readonly string[];
  /** The example of its body; null where it has none or an empty one. */
  readonly body: { readonly [key: string]: Json } | null;
  /** What comes back, or is gone through, in snake_case: `project`. Null for nothing. */
  readonly result: string | null;
  /** A field of what comes back that is worth printing: its id, or its first one. */
  readonly shown: string;
}

export function sampleOf(operation: SdkOperation, schemas: Readonly<Record<string, Schema>>): Sample {
  const { body, result, pathParameters } = operation;
  const fields = Object.keys((result === null ? undefined : schemas[result.schema])?.properties ?? {});
  const example = (body?.example ?? {}) as { readonly [key: string]: Json };
  return {
    operation,
    ids: pathParameters.map(({ example: id }) => String(id)),
    body: body === null || Object.keys(example).length === 0 ? null : example,
    shown: fields.includes('id') ? 'id' : (fields[0] ?? ''),
    // A key with its secret is still a key.
    result: result === null ? null : snake(result.schema.replace(/WithSecret$/, '')),
  };
}

/** What a sample says where it leaves a stream: without that it would never end. */
export const STREAM_GOES_ON = 'It goes on for as long as you stay.';

/** Where the sample of a stream begins: at the first of all that there is, so that something comes at once. */
export const beginning = ({ query }: SdkOperation): [name: string, value: number][] =>
  query.filter(({ schema }) => schema.type === 'integer').map(({ name }) => [name, 0]);

const snake = (name: string): string => name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();

export const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema behind a reference; the schema itself where there is none. */
export function resolve(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  return schema.$ref === undefined ? schema : (schemas[nameOfRef(schema.$ref)] as Schema);
}
