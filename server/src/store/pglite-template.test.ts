// The template of an embedded database: made once a version of PGlite, copied whole, and done without where it is missing or unreadable.
// That a copy is a database is what every first start in store-embedded.test.ts shows.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('belongs to everybody to read, and a copy to its owner alone', async () => {
  install('1.0.0');
  await makeTemplate(async (directory) => {
    await create(directory);
    chmodSync(join(directory, 'base', 'table'), 0o666);
  }, packages);
  const modeOf = (...path: string[]): number => statSync(join(...path)).mode & 0o777;
  const template = join(packages, '.cache/tranche-embedded/1.0.0');
  expect([modeOf(template), modeOf(template, 'base'), modeOf(template, 'base', 'table')]).toEqual([0o755, 0o755, 0o644]);
  expect(copyTemplate(target, packages)).toBe(true);
  expect([modeOf(target), modeOf(target, 'base'), modeOf(target, 'base', 'table')]).toEqual([0o700, 0o700, 0o600]);
});

test('is made by two installations at once, whole, and by one that fails not at all', async () => {
  install('1.0.0');
  const pause = Promise.withResolvers<void>();
  const slow = makeTemplate(async (directory) => {
    await create(directory);
    await pause.promise;
  }, packages);
  const here = readdirSync(join(packages, '.cache/tranche-embedded'));
  expect(here).toEqual([`1.0.0.made.${process.pid}`]);
  // Another process is done first.
  mkdirSync(join(packages, '.cache/tranche-embedded/1.0.0/base'), { recursive: true });
  writeFileSync(join(packages, '.cache/tranche-embedded/1.0.0/base/table'), 'rows of the other');
  pause.resolve();
  await slow;
  expect(readdirSync(join(packages, '.cache/tranche-embedded'))).toEqual(['1.0.0']);
  expect(copyTemplate(target, packages)).toBe(true);
  expect(readFileSync(join(target, 'base', 'table'), 'utf8')).toBe('rows of the other');

  install('1.0.1');
  await expect(makeTemplate(() => Promise.reject(new Error('no room')), packages)).rejects.toThrow('no room');
  expect(readdirSync(join(packages, '.cache/tranche-embedded'))).toEqual(['1.0.0']);
});

test.skipIf(process.getuid?.() !== 0)('that this user may not read is done without', async () => {
  install('1.0.0');
  await makeTemplate(create, packages);
  chmodSync(join(packages, '.cache/tranche-embedded/1.0.0/base'), 0o700);
  chmodSync(scratch, 0o777);
  const program = `import { copyTemplate } from ${JSON.stringify(new URL('./pglite-template.ts', import.meta.url).href)};
    process.setgid(65534); process.setuid(65534);
    console.log(copyTemplate(${JSON.stringify(target)}, ${JSON.stringify(packages)}));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stdout).toBe('false\n');
  expect(existsSync(target)).toBe(false);
});

test('that cannot be copied leaves nothing behind', async () => {
  install('1.0.0');
  await makeTemplate(create, packages);
  writeFileSync(join(scratch, 'file'), 'in the way of a directory');
  expect(copyTemplate(join(scratch, 'file', 'data'), packages)).toBe(false);
  expect(readFileSync(join(scratch, 'file'), 'utf8')).toBe('in the way of a directory');
});
