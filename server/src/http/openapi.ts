// The OpenAPI 3.1 document, made from the routes and schemas that serve: paths, webhooks, security, every error of each operation.
// Pure: the same routes give the same document. Words on single operations belong to their routes, not here.

import type { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type IdKind, idPrefixes } from '../domain/ids.ts';
import { exampleId } from '../schemas/text.ts';
import { SESSION_COOKIE } from './cookies.ts';
import { CONSISTENCY_HEADER, consistencies } from './eventual-reads.ts';
import { errorResponses, headerComponents, headerRefs, responseComponents } from './openapi-errors.ts';
import { type Access, isList, type Route, templateOf } from './route.ts';

export interface WebhookDescription {
  readonly type: string;
  readonly summary: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
}

/** How an operation is called in one language. */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

export interface OpenApiOptions {
  readonly version: string;
  /** By operationId. Made from the document without them, by `npm run generate`. */
  readonly codeSamples?: Readonly<Record<string, readonly CodeSample[]>>;
  readonly webhooks?: readonly WebhookDescription[];
}

const tagDescriptions: Record<string, string> = {
  Projects: 'What a client ordered: work that is paid by milestone.',
  Milestones: 'The parts of a project: each is submitted, approved and then paid.',
  Payments: 'The money of approved milestones. A payment is released once and never rewritten.',
  Invoices: 'The documents of approved milestones, numbered without a gap.',
  Events: 'Everything that happened, in order. What webhooks tell, read back.',
  Webhooks: 'What this service sends to your endpoints. Each request is signed as Standard Webhooks describes; a 2xx acknowledges it.',
  'Webhook endpoints': 'Where events are sent, and how the deliveries went.',
  'API keys': 'Who may call, and for what.',
  'Request log': 'What was asked for lately, and how much of the limit was used.',
  Account: 'The person who is signed in: signing up and in, the second factor, the sessions.',
  Workspace: 'The workspace itself.',
  Members: 'The people of the workspace and what they may do.',
  Invitations: 'Links by which people become members.',
  'Audit log': 'Who changed which setting, key, role or endpoint, when and from where.',
};

const DESCRIPTION = `
A platform orders projects, projects have milestones, a milestone is submitted and approved, its payment is released, an invoice records it, and subscribers are told.

**Keys.** Every request carries \`Authorization: Bearer <API_KEY>\`. A key holds scopes; each operation names the one it asks for.

**Sessions.** A person who is signed in calls the same operations with the session's cookie and the header \`Tranche-Workspace\`, which may be left out by a member of one workspace; the scopes are those of the role. Such requests come from the page that this server serves, and from no other site.

**Money** is an integer in minor units of its currency: 150000 is 1500.00 USD.

**Lists** are pages, newest first: \`limit\`, \`starting_after\`, \`ending_before\`. An unknown query parameter is an error.

**Repeating.** POST and PATCH take an \`Idempotency-Key\`: the same key with the same request gets the same answer and happens once.

**Errors** are \`application/problem+json\`. Decide by \`code\`; [a page for each](/docs/errors) says what it means and what to do.

**Limits.** A key may send a fixed number of requests a minute; the \`RateLimit\` header says how many are left.
`.trim();

export function buildOpenApi(routes: readonly Route[], { version, webhooks = [], codeSamples = {} }: OpenApiOptions): object {
  const tags = [...new Set([...routes.map((route) => route.tag), ...(webhooks.length > 0 ? ['Webhooks'] : [])])];
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: { title: 'Tranche', version, description: DESCRIPTION, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: '/', description: 'The server that serves this document.' }],
      security: [{ api_key: [] }, { session: [] }],
      tags: tags.map((name) => ({ name, description: tagDescriptions[name] ?? `${name}.` })),
      paths: pathsOf(routes, codeSamples),
      ...(webhooks.length > 0 ? { webhooks: webhooksOf(webhooks) } : {}),
      components: {
        securitySchemes: {
          api_key: { type: 'http', scheme: 'bearer', description: 'An API key of the workspace: `Authorization: Bearer <API_KEY>`.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: SESSION_COOKIE,
            description: 'The session of a person. Which of their workspaces is meant is in the header `Tranche-Workspace`.',
          },
        },
        parameters: parameterComponents,
        headers: headerComponents,
        responses: responseComponents(routes),
      },
    },
    {
      // A client must bear fields that are added later; only what is strict in the code is closed in the document.
      override: ({ zodSchema, jsonSchema }) => {
        const { def } = zodSchema._zod;
        if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
      },
    },
  );
  return withoutTwins(document);
}

function pathsOf(routes: readonly Route[], codeSamples: NonNullable<OpenApiOptions['codeSamples']>): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, codeSamples[route.operationId]) };
  }
  return paths;
}

/** Said where it is not what holds for the whole document. */
const securityOf: Readonly<Record<Access, { security?: Record<string, string[]>[] }>> = {
  workspace: {},
  person: { security: [{ session: [] }] },
  anyone: { security: [] },
};

function operationOf(route: Route, codeSamples: readonly CodeSample[] | undefined): ZodOpenApiOperationObject {
  const scope = route.scope === null ? '' : `Scope: \`${route.scope}\`.`;
  const parameters = [...Object.entries(route.ids ?? {}).map(pathParameter), ...headerParameters(route)];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, scope].filter((text) => text).join('\n\n') || route.summary,
    ...securityOf[route.access ?? 'workspace'],
    ...(route.scope === null ? {} : { 'x-required-scope': route.scope }),
    ...(codeSamples === undefined ? {} : { 'x-codeSamples': codeSamples }),
    ...(route.query === undefined ? {} : { requestParams: { query: route.query as z.ZodObject } }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route.body, route.bodyExample) }),
    responses: { ...successOf(route), ...errorResponses(route) },
  };
}

function pathParameter([name, kind]: [string, IdKind]) {
  return {
    name,
    in: 'path' as const,
    required: true,
    description: `The id of the ${kind.replace('_', ' ')}.`,
    schema: { type: 'string' as const, pattern: `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$` },
    example: exampleId(kind),
  };
}

// Without examples: a sample request that is copied must not repeat a key or ask for a version by accident.
const parameterComponents = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header' as const,
    description:
      'A key of your own, a new one for each request you mean. A repetition with the same key and body gets the stored answer and changes nothing.',
    schema: { type: 'string' as const, minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header' as const,
    description: 'The ETag you read, such as `"3"`. When the resource has changed since, nothing happens and the answer is 412.',
    schema: { type: 'string' as const },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header' as const,
    description: 'The `id` of the last message received: the stream goes on after it. Event source clients send it by themselves.',
    schema: { type: 'string' as const, pattern: '^\\d{1,16}$' },
  },
  Consistency: {
    name: CONSISTENCY_HEADER,
    in: 'header' as const,
    description:
      '`eventual`: a list that may be some seconds behind will do, and a replica may answer. Without it, and with `strong`, it holds what was written before.',
    schema: { type: 'string' as const, enum: [...consistencies], default: 'strong' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header' as const,
    description: 'The ETag you hold, such as `"3"`. When it is still the current one, the answer is 304 without a body.',
    schema: { type: 'string' as const },
  },
};

function headerParameters(route: Route): { $ref: `#/components/parameters/${string}` }[] {
  const names: (keyof typeof parameterComponents)[] = [];
  if (route.idempotent === true) names.push('IdempotencyKey');
  if (route.success.contentType === 'text/event-stream') names.push('LastEventId');
  if (isList(route)) names.push('Consistency');
  if (route.versioned === true && route.method === 'GET') names.push('IfNoneMatch');
  if (route.versioned === true && (route.method === 'PATCH' || route.method === 'DELETE')) names.push('IfMatch');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function requestBodyOf(schema: z.ZodType, example: unknown) {
  const required = !schema.safeParse(undefined).success;
  const shown = example ?? (required ? undefined : {});
  return { required, content: { 'application/json': { schema, ...(shown === undefined ? {} : { example: shown }) } } };
}

function successOf(route: Route): ZodOpenApiOperationObject['responses'] {
  const { status, description, schema, example, contentType = 'application/json' } = route.success;
  const headers = headerRefs([
    'Request-Id',
    ...(route.access === 'anyone' ? [] : ['RateLimit' as const, 'RateLimit-Policy' as const]),
    ...(route.versioned === true ? ['ETag' as const] : []),
    ...(status === 201 ? ['Location' as const] : []),
    ...(route.idempotent === true ? ['Idempotent-Replayed' as const] : []),
    ...(isList(route) ? ['Tranche-Consistency' as const] : []),
  ]);
  const content = schema === undefined ? {} : { content: { [contentType]: { schema, ...(example === undefined ? {} : { example }) } } };
  const unchanged =
    route.versioned === true && route.method === 'GET'
      ? { 304: { description: 'Unchanged since the ETag in If-None-Match.', headers } }
      : {};
  return { [status]: { description, headers, ...content }, ...unchanged };
}

/** `milestone.changes_requested` → `milestoneChangesRequested`. */
const camelOf = (type: string): string => type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());

const webhookHeaders = {
  'webhook-id': 'The id of the event: the same at every attempt. Use it to do things once.',
  'webhook-timestamp': 'When this attempt was sent, in seconds since 1970.',
  'webhook-signature':
    '`v1,` and the HMAC-SHA256 of id, timestamp and body in base64, or `v1a,` and their ed25519 signature, as the endpoint asks for; several with a space between while secrets are being rotated.',
  'Tranche-Seq': 'The place of the event in the workspace.',
  'Tranche-Prev-Seq': 'The place of the event that was sent to this endpoint before it, so that a gap shows.',
  'Tranche-Attempt': 'Which attempt this is, from 1.',
};

function webhooksOf(webhooks: readonly WebhookDescription[]): ZodOpenApiPathsObject {
  const parameters = Object.entries(webhookHeaders).map(([name, description]) => ({
    name,
    in: 'header' as const,
    description,
    required: name !== 'Tranche-Prev-Seq',
    schema: { type: 'string' as const },
  }));
  const responses = {
    '2XX': { description: 'Acknowledged: the event is not sent again.' },
    410: { description: 'Gone: the endpoint is disabled.' },
    default: { description: 'Anything else, and no answer in time, is a failure: the event is sent again later.' },
  };
  return Object.fromEntries(
    webhooks.map(({ type, summary, schema, example }) => [
      type,
      {
        post: {
          operationId: `${camelOf(type)}Webhook`,
          tags: ['Webhooks'],
          summary,
          description: `Sent to each endpoint that is subscribed to \`${type}\`.`,
          security: [],
          parameters,
          requestBody: { required: true, content: { 'application/json': { schema, example } } },
          responses,
        },
      },
    ]),
  );
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The generator writes a schema twice, the second as `XOutput`, when it differs between requests and answers. Where both came out the
 * same, one component under its own name is enough; where they did not, one name would stand for two things, and that is a mistake.
 */
function withoutTwins(document: object): object {
  const plain = JSON.parse(JSON.stringify(document)) as { components: { schemas?: Record<string, Json> } };
  const schemas = plain.components.schemas ?? {};
  const twins = Object.keys(schemas).filter((name) => name.endsWith('Output') && schemas[name.slice(0, -'Output'.length)] !== undefined);
  const rename = (text: string): string =>
    text.replace(/"#\/components\/schemas\/(\w+)"/g, (ref, name) => (twins.includes(name) ? ref.replace(/Output"$/, '"') : ref));
  for (const twin of twins) {
    const name = twin.slice(0, -'Output'.length);
    if (rename(JSON.stringify(schemas[twin])) !== rename(JSON.stringify(schemas[name]))) {
      throw new Error(`the schema "${name}" means one thing in requests and another in answers: give it an id for each`);
    }
    delete schemas[twin];
  }
  plain.components.schemas = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.parse(rename(JSON.stringify(plain)), withoutClosedReference);
}

/** A reference with a description of its own must not be closed: its fields are those of what it refers to. */
function withoutClosedReference(_key: string, value: unknown): unknown {
  if (typeof value === 'object' && value !== null && '$ref' in value && 'additionalProperties' in value) delete value.additionalProperties;
  return value;
}
