// Writes every generated file anew: openapi.json and docs/reference. CI runs it and fails when that changes anything.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { buildOpenApi } from '../server/src/http/openapi.ts';
import type { Reads } from '../server/src/http/reads.ts';
import { allRoutes } from '../server/src/http/routes/all.ts';
import type { Writes } from '../server/src/http/writes.ts';
import { configurationPage, errorsPage, eventsPage, statesPage } from '../server/src/reference.ts';
import { webhookPayloads } from '../server/src/schemas/webhook-payloads.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };

// The document is made from what routes say of themselves; none is called, so none needs its services.
const routes = allRoutes({} as Reads, {} as Writes);

const files: Record<string, string> = {
  'openapi.json': `${JSON.stringify(buildOpenApi(routes, { version, webhooks: webhookPayloads }), null, 2)}\n`,
  'docs/reference/errors.md': errorsPage(),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/states.md': statesPage(),
  'docs/reference/events.md': eventsPage(),
};

mkdirSync(new URL('docs/reference/', root), { recursive: true });
for (const [path, text] of Object.entries(files)) {
  writeFileSync(new URL(path, root), text);
  process.stdout.write(`wrote ${path}\n`);
}
