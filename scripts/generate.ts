// Writes every generated file anew: openapi.json, docs/reference and what the clients take from them. CI runs it and fails when that changes anything.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOpenApi } from '../server/src/http/openapi.ts';
import type { Reads } from '../server/src/http/reads.ts';
import { allRoutes } from '../server/src/http/routes/all.ts';
import type { Writes } from '../server/src/http/writes.ts';
import { configurationPage, errorsPage, eventsPage, statesPage } from '../server/src/reference.ts';
import { webhookPayloads } from '../server/src/schemas/webhook-payloads.ts';
import { goClient } from './generate-go.ts';
import { pythonClient } from './generate-python.ts';
import { typescriptClient } from './generate-sdk-typescript.ts';
import type { Document } from './sdk-operations.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };

// The document is made from what routes say of themselves; none is called, so none needs its services.
const routes = allRoutes({} as Reads, {} as Writes);
const openApi = `${JSON.stringify(buildOpenApi(routes, { version, webhooks: webhookPayloads }), null, 2)}\n`;

const files: Record<string, string> = {
  'openapi.json': openApi,
  'docs/reference/errors.md': errorsPage(),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/states.md': statesPage(),
  'docs/reference/events.md': eventsPage(),
  ...typescriptClient(JSON.parse(openApi) as Document),
  ...goClient(JSON.parse(openApi) as Document),
  ...pythonClient(JSON.parse(openApi) as Document),
};

for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, root);
  mkdirSync(dirname(fileURLToPath(url)), { recursive: true });
  writeFileSync(url, text);
  process.stdout.write(`wrote ${path}\n`);
}
