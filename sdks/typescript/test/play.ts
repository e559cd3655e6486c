// Plays the scenario outside of a test runner: `node sdks/testing/serve.ts -- node sdks/typescript/test/play.ts [path of the module]`.
// Prints one line for each step and stops at the first that fails. Without a path it plays the sources.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Document } from '../../../scripts/sdk-operations.ts';
import type * as Sdk from '../src/index.ts';
import { Scenario, type Step } from './scenario.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const { steps } = read('../../scenarios/scenario.json') as { readonly steps: readonly Step[] };
const path = process.argv[2];
const sdk = (await import(path === undefined ? '../src/index.ts' : pathToFileURL(path).href)) as typeof Sdk;
const scenario = new Scenario({ sdk, document: read('../../../openapi.json') as Document, variables: process.env });

for (const [index, step] of steps.entries()) {
  const begun = Date.now();
  try {
    await scenario.play(step);
    process.stdout.write(`ok ${index + 1} ${step.name} (${Date.now() - begun} ms)\n`);
  } catch (error) {
    process.stdout.write(`not ok ${index + 1} ${step.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
