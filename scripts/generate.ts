// Writes every generated file anew: openapi.json, docs/reference and what the clients take from them. CI runs it and fails when that changes anything.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOpenApi, type OpenApiOptions } from '../server/src/http/openapi.ts';
import type { People } from '../server/src/http/people.ts';
import type { Reads } from '../server/src/http/reads.ts';
import { allRoutes } from '../server/src/http/routes/all.ts';
import type { Writes } from '../server/src/http/writes.ts';
import { configurationPage, errorsPage, eventsPage, statesPage } from '../server/src/reference.ts';
import { webhookPayloads } from '../server/src/schemas/webhook-payloads.ts';
import { codeSamples } from './code-samples/samples.ts';
import { goClient } from './generate-go.ts';
import { pythonClient } from './generate-python.ts';
import { typescriptClient } from './generate-sdk-typescript.ts';
import type { Document } from './sdk-operations.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };

// The document is made from what routes say of themselves; none is called, so none needs its services.
const routes = allRoutes({} as Reads, {} as Writes, {} as People);
const build = (options: Partial<OpenApiOptions>): object => buildOpenApi(routes, { version, webhooks: webhookPayloads, ...options });
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

// The samples show how the clients call each operation, so they are made from a document that does not hold them yet.
const document = build({}) as Document;
const samples = codeSamples(document);

/** Folders that hold generated files only: what is not written any more is gone. */
const folders = ['sdks/typescript/src/generated/', 'sdks/python/src/tranche/_generated/'];

const files: Record<string, string> = {
  'openapi.json': json(build({ codeSamples: samples })),
  'server/src/http/code-samples.json': json(samples),
  'docs/reference/errors.md': errorsPage(),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/states.md': statesPage(),
  'docs/reference/events.md': eventsPage(),
  ...typescriptClient(document),
  ...pythonClient(document),
  ...goClient(document),
};

for (const folder of folders) rmSync(new URL(folder, root), { recursive: true, force: true });
for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, root);
  mkdirSync(dirname(fileURLToPath(url)), { recursive: true });
  writeFileSync(url, text);
  process.stdout.write(`wrote ${path}\n`);
}
