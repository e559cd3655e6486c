// The template of an embedded database: made once a version of PGlite, copied whole, and done without where it is missing or unreadable.
// That a copy is a database is what every first start in store-embedded.test.ts shows.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyTemplate, makeTemplate } from './pglite-template.ts';

let scratch: string;
let packages: string;
let target: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'tranche-template-'));
  packages = join(scratch, 'node_modules');
  target = join(scratch, 'data');
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function install(version: string): void {
  mkdirSync(join(packages, '@electric-sql/pglite'), { recursive: true });
  writeFileSync(join(packages, '@electric-sql/pglite/package.json'), JSON.stringify({ version }));
}

let made = 0;
beforeEach(() => void (made = 0));
async function create(directory: string): Promise<void> {
  made += 1;
  mkdirSync(join(directory, 'base'), { recursive: true });
  writeFileSync(join(directory, 'base', 'table'), 'rows');
}

test('is made once, and a copy has all of it', async () => {
  install('1.0.0');
  await makeTemplate(create, packages);
  await makeTemplate(create, packages);
  expect(made).toBe(1);
  expect(copyTemplate(target, packages)).toBe(true);
  expect(readFileSync(join(target, 'base', 'table'), 'utf8')).toBe('rows');
});

test('is of one version of PGlite: another one has none until it is made', async () => {
  install('1.0.0');
  await makeTemplate(create, packages);
  install('1.0.1');
  expect(copyTemplate(target, packages)).toBe(false);
  expect(existsSync(target)).toBe(false);
  await makeTemplate(create, packages);
  expect(made).toBe(2);
  expect(copyTemplate(target, packages)).toBe(true);
});

test('is done without where the packages are somewhere else', async () => {
  await makeTemplate(create, packages);
  expect(made).toBe(0);
  expect(copyTemplate(target, packages)).toBe(false);
});

test('that cannot be copied leaves nothing behind', async () => {
  install('1.0.0');
  await makeTemplate(create, packages);
  writeFileSync(join(scratch, 'file'), 'in the way of a directory');
  expect(copyTemplate(join(scratch, 'file', 'data'), packages)).toBe(false);
  expect(readFileSync(join(scratch, 'file'), 'utf8')).toBe('in the way of a directory');
});
