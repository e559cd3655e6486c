// The sample of an operation in Go: what stands in a function that has a context and returns an error. Laid out as gofmt would.
// Pure. Which Go type a field has follows the same rules as the generator of the client.

import { exported, unexported } from '../generate-go-text.ts';
import { paramsName } from '../generate-go-types.ts';
import { nameOfRef, type Schema, type SdkOperation } from '../sdk-operations.ts';
import { beginning, isObject, type Json, resolve, type Sample, STREAM_GOES_ON } from './sample.ts';

type Schemas = Readonly<Record<string, Schema>>;

export function goSample({ operation, ids, body, result, shown }: Sample, schemas: Schemas): string {
  const method = `client.${exported(operation.resource)}.${exported(operation.name)}`;
  const given = ['ctx', ...ids.map((id) => JSON.stringify(id))];
  if (operation.body !== null) given.push(body === null ? 'nil' : `&${structOf(operation.body.schema, body, '', schemas)}`);
  else if (operation.query.length > 0 && operation.result?.kind !== 'stream') given.push('nil');
  if (operation.result?.kind === 'stream') given.push(`&tranche.${streamParams(operation)}{${fromOf(operation)}}`);
  const call = `${method}(${given.join(', ')})`;
  const lines = ['client := tranche.NewClient(os.Getenv("TRANCHE_API_KEY"))', ''];
  const refuse = (indent: string): string[] => [`${indent}if err != nil {`, `${indent}\treturn err`, `${indent}}`];
  const name = result === null ? null : unexported(result);
  if (name === null) lines.push(`err := ${call}`, ...refuse(''));
  else if (operation.result?.kind === 'list')
    lines.push(`for ${name}, err := range ${call} {`, ...refuse('\t'), `\tfmt.Println(${name}.${exported(shown)})`, '}');
  else if (operation.result?.kind === 'stream')
    lines.push(
      `for ${name}, err := range ${call} {`,
      ...refuse('\t'),
      `\tfmt.Println(${name}.${exported(shown)})`,
      `\tbreak // ${STREAM_GOES_ON}`,
      '}',
    );
  else lines.push(`${name}, err := ${call}`, ...refuse(''), `fmt.Println(${name}.${exported(shown)})`);
  return `${lines.join('\n')}\n`;
}

/** What is asked of a stream: `EventStreamParams`. */
const streamParams = ({ result, name }: SdkOperation): string => `${result?.schema}${exported(name)}Params`;

const fromOf = (operation: SdkOperation): string =>
  beginning(operation)
    .map(([name, value]) => `${exported(name)}: tranche.Int64(${value})`)
    .join(', ');

function structOf(name: string, value: { readonly [key: string]: Json }, indent: string, schemas: Schemas): string {
  const { properties = {}, required = [] } = schemas[name] as Schema;
  const inner = `${indent}\t`;
  const fields = Object.entries(value).map(([key, one]): [string, string] => {
    const schema = properties[key];
    if (schema === undefined) throw new Error(`the example of ${name} has a field ${key} that its schema lacks`);
    return [`${exported(key)}:`, expressionOf(schema, one, !required.includes(key), inner, schemas)];
  });
  return `tranche.${paramsName(name)}{\n${alignedFields(fields, inner)}${indent}}`;
}

/** gofmt lines the values up of neighbouring fields that take one line each. */
function alignedFields(fields: readonly (readonly [string, string])[], indent: string): string {
  const isLong = (index: number): boolean => fields[index]?.[1].includes('\n') ?? true;
  return fields
    .map(([key, value], index) => {
      if (isLong(index)) return `${indent}${key} ${value},\n`;
      let [first, last] = [index, index];
      while (!isLong(first - 1)) first -= 1;
      while (!isLong(last + 1)) last += 1;
      const width = Math.max(...fields.slice(first, last + 1).map(([name]) => name.length));
      return `${indent}${key.padEnd(width)} ${value},\n`;
    })
    .join('');
}

function expressionOf(schema: Schema, value: Json, isOptional: boolean, indent: string, schemas: Schemas): string {
  const variants = schema.anyOf?.filter((variant) => variant.type !== 'null');
  if (variants !== undefined) {
    const inner =
      value === null ? typeOf(variants[0] as Schema, schemas) : expressionOf(variants[0] as Schema, value, false, indent, schemas);
    return value === null ? `tranche.Null[${inner}]()` : `tranche.Value(${inner})`;
  }
  const target = resolve(schema, schemas);
  if (target.enum !== undefined) {
    const constant = `tranche.${exported(nameOfRef(schema.$ref as string))}${exported(String(value))}`;
    return isOptional ? `tranche.Ptr(${constant})` : constant;
  }
  if (isObject(value)) {
    if (schema.$ref !== undefined) return `${isOptional ? '&' : ''}${structOf(nameOfRef(schema.$ref), value, indent, schemas)}`;
    return mapOf(target, value, indent, schemas);
  }
  if (Array.isArray(value)) {
    const items = value.map((one: Json) => expressionOf(target.items ?? {}, one, false, `${indent}\t`, schemas));
    const type = typeOf(target, schemas);
    if (!items.some((item) => item.includes('\n'))) return `${type}{${items.join(', ')}}`;
    // In a slice of structs their type is said once, for all; that they are pointers then goes without saying.
    const element = type.slice('[]*'.length);
    return `${type}{\n${items.map((item) => `${indent}\t${item.replace(element, '')},\n`).join('')}${indent}}`;
  }
  if (typeof value === 'string' && target.format === 'date-time') {
    const at = new Date(value);
    const parts = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), 0];
    const time = `time.Date(${parts.join(', ')}, time.UTC)`;
    return isOptional ? `tranche.Ptr(${time})` : time;
  }
  const text = JSON.stringify(value);
  if (!isOptional) return text;
  return typeof value === 'string'
    ? `tranche.String(${text})`
    : typeof value === 'number'
      ? `tranche.Int64(${text})`
      : `tranche.Bool(${text})`;
}

function mapOf(schema: Schema, value: { readonly [key: string]: Json }, indent: string, schemas: Schemas): string {
  const values = schema.additionalProperties as Schema;
  const isNullable = values.anyOf !== undefined;
  const entries = Object.entries(value).map(([key, one]) => {
    const text =
      one === null ? 'nil' : isNullable ? `tranche.String(${JSON.stringify(one)})` : expressionOf(values, one, false, indent, schemas);
    return `${JSON.stringify(key)}: ${text}`;
  });
  return `map[string]${isNullable ? '*' : ''}string{${entries.join(', ')}}`;
}

function typeOf(schema: Schema, schemas: Schemas): string {
  const target = resolve(schema, schemas);
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
    return `tranche.${target.enum === undefined ? paramsName(name) : exported(name)}`;
  }
  switch (schema.type) {
    case 'array':
      return `[]${isStruct(schema.items ?? {}, schemas) ? '*' : ''}${typeOf(schema.items ?? {}, schemas)}`;
    case 'integer':
      return 'int64';
    case 'boolean':
      return 'bool';
    case 'string':
      return schema.format === 'date-time' ? 'time.Time' : 'string';
    default:
      throw new Error(`there is no Go type here for ${JSON.stringify(schema)}`);
  }
}

const isStruct = (schema: Schema, schemas: Schemas): boolean =>
  schema.$ref !== undefined && resolve(schema, schemas).properties !== undefined;
