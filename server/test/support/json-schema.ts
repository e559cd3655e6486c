// Checks a value against the subset of JSON Schema that the OpenAPI document uses; strictly: a field that is not declared is a fault.
// Refuses keywords it does not know, so that a new one cannot pass unchecked.

import type { Json } from './app.ts';

type Check = (expected: Json, value: Json, schema: Json) => boolean;

const isObject = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const types: Record<string, (value: Json) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isObject,
};

const formats: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uri: /^https?:\/\/./i,
  'uri-reference': /^(\/|https?:\/\/)./,
  int64: /^/,
  email: /^[^\s@]+@[^\s@]+$/,
  password: /^/,
};

/** Keywords that a value passes or fails as a whole. */
const checks: Record<string, Check> = {
  type: (expected, value) => [expected].flat().some((type: string) => types[type]?.(value)),
  const: (expected, value) => value === expected,
  enum: (expected, value) => expected.includes(value),
  pattern: (expected, value) => typeof value !== 'string' || new RegExp(expected, 'u').test(value),
  format: (expected, value) => typeof value !== 'string' || formats[expected]?.test(value) === true,
  minLength: (expected, value) => typeof value !== 'string' || [...value].length >= expected,
  maxLength: (expected, value) => typeof value !== 'string' || [...value].length <= expected,
  minimum: (expected, value) => typeof value !== 'number' || value >= expected,
  maximum: (expected, value) => typeof value !== 'number' || value <= expected,
  minItems: (expected, value) => !Array.isArray(value) || value.length >= expected,
  maxItems: (expected, value) => !Array.isArray(value) || value.length <= expected,
  uniqueItems: (_, value) => !Array.isArray(value) || new Set(value.map((item) => JSON.stringify(item))).size === value.length,
  maxProperties: (expected, value) => !isObject(value) || Object.keys(value).length <= expected,
  required: (expected, value) => !isObject(value) || expected.every((name: string) => Object.hasOwn(value, name)),
};

const walked = ['properties', 'additionalProperties', 'items', 'anyOf', 'oneOf', '$ref', 'propertyNames'];
const silent = ['description', 'title', 'example', 'examples', 'default', 'deprecated'];

/** Every way in which the value is not what the schema says, each with where; empty when there is none. */
export function schemaFaults(schema: Json, value: Json, resolve: (schema: Json) => Json, where = '$'): string[] {
  const given = resolve(schema);
  const faults: string[] = [];
  for (const [keyword, expected] of Object.entries<Json>(given)) {
    if (walked.includes(keyword) || silent.includes(keyword)) continue;
    const check = checks[keyword];
    if (check === undefined) faults.push(`${where}: the keyword ${keyword} is not known to this check`);
    else if (!check(expected, value, given))
      faults.push(`${where}: ${JSON.stringify(value)?.slice(0, 100)} fails ${keyword} ${JSON.stringify(expected)}`);
  }
  const choices: Json[] | undefined = given.anyOf ?? given.oneOf;
  if (choices?.every((choice) => schemaFaults(choice, value, resolve, where).length > 0))
    faults.push(`${where}: ${JSON.stringify(value)?.slice(0, 100)} is none of the choices`);
  if (given.items !== undefined && Array.isArray(value))
    faults.push(...value.flatMap((item, i) => schemaFaults(given.items, item, resolve, `${where}[${i}]`)));
  if (isObject(value) && (given.properties !== undefined || given.additionalProperties !== undefined)) {
    for (const [name, inner] of Object.entries<Json>(value)) {
      const declared = Object.hasOwn(given.properties ?? {}, name) ? given.properties[name] : given.additionalProperties;
      if (declared === undefined || declared === false) faults.push(`${where}.${name} is not declared`);
      else if (declared !== true) faults.push(...schemaFaults(declared, inner, resolve, `${where}.${name}`));
    }
  }
  return faults;
}
