// The shared scenario, played by this client against a real server: each step is a test.
// What the steps are is in sdks/scenarios.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Document } from '../../../scripts/sdk-operations.ts';
import { openTestEnvironment, type TestEnvironment } from '../../testing/environment.ts';
import * as sdk from '../src/index.ts';
import { Scenario, type Step } from './scenario.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const { steps } = read('../../scenarios/scenario.json') as { readonly steps: readonly Step[] };

describe('the shared scenario', () => {
  let environment: TestEnvironment;
  let scenario: Scenario;
  let failed = '';
  beforeAll(async () => {
    environment = await openTestEnvironment();
    scenario = new Scenario({ sdk, document: read('../../../openapi.json') as Document, variables: environment.variables });
  }, 180_000);
  afterAll(() => environment?.close());

  for (const [index, step] of steps.entries()) {
    test(`${index + 1}. ${step.name}`, async () => {
      // A step needs what the ones before it captured.
      expect(failed, 'the step that failed before').toBe('');
      failed = String(step.name);
      await scenario.play(step);
      failed = '';
    });
  }
});
