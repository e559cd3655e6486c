// Turns the schemas of the document into types of Go: models, parameters, enums.
// A schema of a form that it does not know stops it: better no code than code that loses a field.

import { aligned, comment, exported, type GoField, quoted, struct } from './generate-go-text.ts';

/** What is used of JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** What goes to the service is laid out otherwise than what comes from it: optional and null differ there. */
export type Direction = 'sent' | 'received';

interface Shape {
  readonly type: string;
  readonly nullable: boolean;
  /** Its nil already says that there is none: slices, maps and raw JSON need no pointer. */
  readonly hasNil: boolean;
}

export class GoTypes {
  readonly #schemas: Readonly<Record<string, Schema>>;
  /** Finished types by name. */
  readonly #written = new Map<string, { kind: 'model' | 'params' | 'enum'; text: string }>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  textOf(kind: 'model' | 'params' | 'enum'): string[] {
    return [...this.#written]
      .filter(([, entry]) => entry.kind === kind)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, entry]) => entry.text);
  }

  schema(name: string): Schema {
    const found = this.#schemas[name];
    if (found === undefined) throw new Error(`openapi.json has no schema ${name}`);
    return found;
  }

  /** The Go type of a named schema, written on first use. */
  named(schemaName: string, direction: Direction): string {
    const schema = this.schema(schemaName);
    if (schema.enum !== undefined) return this.#enum(exported(schemaName), schema);
    if (schema.properties === undefined) return this.shape(schema, schemaName, direction).type;
    return this.#object(direction === 'sent' ? paramsName(schemaName) : exported(schemaName), schema, direction);
  }

  /** What a schema is in Go; `context` names what has no name of its own. */
  shape(schema: Schema, context: string, direction: Direction): Shape {
    const plain = (type: string): Shape => ({ type, nullable: false, hasNil: false });
    const withNil = (type: string): Shape => ({ type, nullable: false, hasNil: true });
    if (schema.$ref !== undefined) return this.#reference(schema.$ref, direction);
    if (schema.allOf?.length === 1) return this.shape(schema.allOf[0] as Schema, context, direction);
    const variants = schema.anyOf ?? schema.oneOf;
    if (variants !== undefined) return this.#union(variants, context, direction);
    if (Array.isArray(schema.type)) {
      const types = (schema.type as readonly string[]).filter((type) => type !== 'null');
      if (types.length !== 1) throw new Error(`${context} may be of several types`);
      const shape = this.shape({ ...schema, type: types[0] as string }, context, direction);
      return { ...shape, nullable: types.length < schema.type.length };
    }
    switch (schema.type) {
      case 'string':
        if (schema.enum !== undefined) return plain(this.#enum(exported(context), schema));
        return plain(schema.format === 'date-time' ? 'time.Time' : 'string');
      case 'integer':
        return plain('int64');
      case 'number':
        return plain('float64');
      case 'boolean':
        return plain('bool');
      case 'array':
        return withNil(`[]${this.#element(schema.items ?? {}, `${context}Item`, direction)}`);
      case 'object':
        return this.#objectShape(schema, context, direction);
      default:
        if (Object.keys(schema).every((key) => key === 'description')) return withNil('json.RawMessage');
        throw new Error(`${context} is of a form that the generator does not know: ${JSON.stringify(schema)}`);
    }
  }

  #objectShape(schema: Schema, context: string, direction: Direction): Shape {
    if (schema.properties !== undefined) {
      const name = direction === 'sent' ? paramsName(context) : exported(context);
      return { type: this.#object(name, schema, direction), nullable: false, hasNil: false };
    }
    const values = schema.additionalProperties;
    if (typeof values === 'object' && Object.keys(values).length > 0) {
      const value = this.shape(values, `${context}Value`, direction);
      return { type: `map[string]${value.nullable && !value.hasNil ? '*' : ''}${value.type}`, nullable: false, hasNil: true };
    }
    return { type: 'json.RawMessage', nullable: false, hasNil: true };
  }

  #union(variants: readonly Schema[], context: string, direction: Direction): Shape {
    const others = variants.filter((variant) => variant.type !== 'null');
    // What may be one thing or another is handed over as it came; the caller knows which it is.
    if (others.length !== 1) return { type: 'json.RawMessage', nullable: true, hasNil: true };
    const shape = this.shape(others[0] as Schema, context, direction);
    return { ...shape, nullable: shape.nullable || others.length < variants.length };
  }

  #reference(ref: string, direction: Direction): Shape {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    const schema = this.schema(name);
    if (schema.enum === undefined && schema.properties === undefined) return this.shape(schema, name, direction);
    return { type: this.named(name, direction), nullable: false, hasNil: false };
  }

  /** Elements that are objects are pointers, as those of a list are. */
  #element(schema: Schema, context: string, direction: Direction): string {
    const shape = this.shape(schema, context, direction);
    const name = schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1);
    const isObject = (name === undefined ? schema : this.schema(name)).properties !== undefined;
    return `${isObject || (shape.nullable && !shape.hasNil) ? '*' : ''}${shape.type}`;
  }

  #object(name: string, schema: Schema, direction: Direction): string {
    if (this.#written.has(name)) return name;
    // Noted before its fields are looked at: a schema may name itself.
    const entry = { kind: direction === 'sent' ? ('params' as const) : ('model' as const), text: '' };
    this.#written.set(name, entry);
    const fields = this.fields(name, schema, direction);
    entry.text = struct(name, `${name}: ${lowered(schema.description ?? 'no description.')}`, fields);
    const secret = fields.find((field) => field.name === 'Secret');
    if (direction === 'received' && secret !== undefined) entry.text += `\n${withoutSecret(name, secret.type)}`;
    const collections = fields.filter(({ type, tag }) => tag.endsWith(',omitempty') && /^(\[\]|map\[)/.test(type));
    if (direction === 'sent' && collections.length > 0) entry.text += `\n${emptyIsSent(name, collections)}`;
    return name;
  }

  fields(name: string, schema: Schema, direction: Direction): GoField[] {
    const required = new Set(schema.required ?? []);
    return Object.entries(schema.properties ?? {}).map(([property, value]) => {
      const shape = this.shape(value, `${name}_${property}`.replace(/Params_/, '_'), direction);
      const optional = !required.has(property);
      return {
        name: exported(property),
        type: typeOf(shape, optional, direction),
        tag: optional ? `${property},omitempty` : property,
        doc: descriptionOf(value),
      };
    });
  }

  #enum(name: string, schema: Schema): string {
    if (this.#written.has(name)) return name;
    const { text, items } = documentedValues(schema.description ?? '');
    const rows = (schema.enum ?? []).map((value) => [`${name}${exported(String(value))}`, name, `= ${quoted(String(value))}`]);
    const documented = rows.map((row, index) => {
      const said = items.get(String(schema.enum?.[index]));
      return `${said === undefined ? '' : comment(`${row[0]}: ${said}`, '\t')}\t${row.join(' ')}\n`;
    });
    const values = items.size === 0 ? aligned(rows) : documented.join('\n');
    const about = `${name}: ${lowered(text.trim() || 'one of the values below.')}\n\nA value that this version of the client does not know yet is passed through as it is.`;
    this.#written.set(name, { kind: 'enum', text: `${comment(about)}type ${name} string\n\nconst (\n${values})\n` });
    return name;
  }
}

function typeOf(shape: Shape, optional: boolean, direction: Direction): string {
  if (direction === 'sent' && optional && shape.nullable) return `*Nullable[${shape.type}]`;
  return (optional || shape.nullable) && !shape.hasNil ? `*${shape.type}` : shape.type;
}

/** Bodies are parameters: `ProjectCreate` → `ProjectCreateParams`, `SubmissionInput` → `SubmissionParams`. */
export function paramsName(schemaName: string): string {
  return `${exported(schemaName.replace(/Input$/, ''))}Params`;
}

/** A description stands at the field, or at the one variant of it that is not null. */
function descriptionOf(schema: Schema): string {
  const said = schema.description ?? schema.anyOf?.find((variant) => variant.description !== undefined)?.description;
  const isDay = [schema, ...(schema.anyOf ?? [])].some(({ format }) => format === 'date');
  return said ?? (isDay ? 'A calendar day, YYYY-MM-DD.' : '');
}

/** Takes "- `value`: what it means" out of a description, so that each stands at its own constant. */
function documentedValues(description: string): { text: string; items: Map<string, string> } {
  const items = new Map<string, string>();
  const text = description
    .split('\n')
    .filter((line) => {
      const item = /^- `([^`]+)`: (.*)$/.exec(line);
      if (item !== null) items.set(item[1] as string, lowered(item[2] as string));
      return item === null;
    })
    .join('\n');
  return { text, items };
}

export function lowered(text: string): string {
  return /^[A-Z][a-z' ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** What holds a secret does not show it when it is printed. */
function withoutSecret(name: string, type: string): string {
  return `// String shows everything but the secret.
func (s ${name}) String() string {
	type shown ${name}
	s.Secret = ${type === 'string' ? '"[secret]"' : 'nil'}
	return fmt.Sprintf("%+v", shown(s))
}

// GoString shows everything but the secret.
func (s ${name}) GoString() string {
	return s.String()
}
`;
}

/** Nil is left out but empty is sent: an empty list of scopes must not become the default, which is all of them. */
function emptyIsSent(name: string, collections: readonly GoField[]): string {
  const rows = collections.map((field) => [field.name, `*${field.type}`, `\`json:"${field.tag}"\``]);
  const shadows = `\t\tfields\n${aligned(rows, '\t\t')}`;
  const values = collections.map((field) => `unlessNil(params.${field.name} == nil, params.${field.name})`);
  return `// MarshalJSON leaves out what is nil and sends what is empty.
func (params ${name}) MarshalJSON() ([]byte, error) {
	type fields ${name}
	return json.Marshal(struct {
${shadows}	}{${['fields(params)', ...values].join(', ')}})
}
`;
}
