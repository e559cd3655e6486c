// The part of the OpenAPI document that the generator of the Python client reads, with nested objects given names of their own.
// Writes no Python and knows no file.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: string | number | boolean;
  readonly enum?: readonly (string | number | null)[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<
    Record<string, { readonly schema?: Schema; readonly examples?: Readonly<Record<string, { value: unknown }>> }>
  >;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, Content>>;
  };
}

export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

export const pascal = (text: string): string =>
  text.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());

export const snake = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .toLowerCase();

export const isObject = (schema: Schema): boolean => schema.properties !== undefined;

export const isEnum = (schema: Schema): boolean => schema.enum !== undefined;

/** All named schemas. An object within an object has no name in the document; here it gets its owner's and its field's. */
export function namedSchemas(document: Document): ReadonlyMap<string, Schema> {
  const named = new Map<string, Schema>();
  for (const [name, schema] of Object.entries(document.components.schemas)) named.set(name, hoistFields(name, schema, named));
  return new Map([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function hoistFields(owner: string, schema: Schema, named: Map<string, Schema>): Schema {
  if (schema.properties === undefined) return schema;
  const fields = Object.entries(schema.properties).map(([name, field]) => [name, hoist(owner + pascal(name), field, named)] as const);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function hoist(name: string, schema: Schema, named: Map<string, Schema>): Schema {
  if (isObject(schema)) {
    if (named.has(name)) throw new Error(`two schemas would be called ${name}`);
    named.set(name, hoistFields(name, schema, named));
    return { $ref: `#/components/schemas/${name}`, ...(schema.description === undefined ? {} : { description: schema.description }) };
  }
  const hoisted = { ...schema };
  if (schema.items !== undefined) Object.assign(hoisted, { items: hoist(name, schema.items, named) });
  if (schema.anyOf !== undefined) Object.assign(hoisted, { anyOf: schema.anyOf.map((option) => hoist(name, option, named)) });
  if (typeof schema.additionalProperties === 'object') {
    Object.assign(hoisted, { additionalProperties: hoist(name, schema.additionalProperties, named) });
  }
  return hoisted;
}

/** The names of every schema that is reached from the given ones, themselves included. */
export function reachable(from: readonly Schema[], schemas: ReadonlyMap<string, Schema>): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    if (schema.$ref !== undefined) {
      const name = refName(schema.$ref);
      if (found.has(name)) return;
      found.add(name);
      visit(schemas.get(name) ?? fail(`${schema.$ref} leads nowhere`));
    }
    for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...Object.values(schema.properties ?? {})]) visit(inner);
    if (schema.items !== undefined) visit(schema.items);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  };
  for (const schema of from) visit(schema);
  return found;
}

export function fail(message: string): never {
  throw new Error(message);
}
