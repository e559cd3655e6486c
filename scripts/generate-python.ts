// Writes the generated part of the Python client out of openapi.json: enums, models, bodies, webhooks, errors, methods.
// Needs Node alone. The hand-written part beside it says how requests are sent and is never touched.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Document, namedSchemas, reachable, type Schema } from './generate-python/document.ts';
import {
  bodiesFile,
  bodyNames,
  enumsFile,
  errorsFile,
  modelNames,
  modelsFile,
  webhookSchemas,
  webhooksFile,
} from './generate-python/models.ts';
import { endpointsOf, operationsFile } from './generate-python/operations.ts';
import { header } from './generate-python/python.ts';
import { resourcesFile } from './generate-python/resources.ts';
import type { Document as SharedDocument } from './sdk-operations.ts';

const root = new URL('../', import.meta.url);
const folder = 'sdks/python/src/tranche/_generated/';

/** The generated files, by their path in the repository. */
export function pythonClient(shared: SharedDocument): Record<string, string> {
  // The same document, as the Python generator types it.
  const document = shared as unknown as Document;
  const schemas = namedSchemas(document);
  const endpoints = endpointsOf(document);
  const webhooks = new Set(webhookSchemas(document).values());
  const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
  const received = reachable(
    [...endpoints.flatMap(({ result }) => (result.kind === 'nothing' ? [] : [ref(result.name)])), ...[...webhooks].map(ref)],
    schemas,
  );
  const sent = reachable(
    endpoints.flatMap(({ body }) => (body === undefined ? [] : [ref(body)])),
    schemas,
  );
  const models = modelNames(new Set([...received].filter((name) => !webhooks.has(name))), schemas);
  const files: Record<string, string> = {
    '__init__.py': header('Everything in this folder is generated.').replace('\nfrom __future__ import annotations\n', ''),
    'enums.py': enumsFile(schemas),
    'models.py': modelsFile(models, schemas),
    'bodies.py': bodiesFile(bodyNames(sent, schemas), schemas),
    'webhooks.py': webhooksFile(document, schemas),
    'errors.py': errorsFile(document, schemas),
    'resources.py': resourcesFile(endpoints, schemas, 'sync'),
    'async_resources.py': resourcesFile(endpoints, schemas, 'async'),
  };
  return {
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [folder + name, text])),
    'sdks/python/tests/operations.py': operationsFile(endpoints),
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const files = pythonClient(JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8')) as SharedDocument);
  mkdirSync(new URL(folder, root), { recursive: true });
  // A file that is no longer generated would otherwise stay and be shipped.
  for (const name of readdirSync(new URL(folder, root))) {
    if (name.endsWith('.py') && files[folder + name] === undefined) rmSync(new URL(folder + name, root));
  }
  for (const [path, text] of Object.entries(files)) {
    writeFileSync(new URL(path, root), text);
    process.stdout.write(`wrote ${path}\n`);
  }
}
