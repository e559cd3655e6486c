// What a first visit has to load, held against its bound. Measured on the build itself, from the list of files that Vite writes.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { buildDashboard } from './e2e/stack.ts';

const dist = fileURLToPath(new URL('dist/', import.meta.url));
const FIRST_LOAD_BYTES = 250 * 1024;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

beforeAll(buildDashboard, 300_000);

const readManifest = (): Record<string, Chunk> => JSON.parse(readFileSync(`${dist}.vite/manifest.json`, 'utf8'));

/** A chunk and everything that it cannot begin without. */
function needed(manifest: Record<string, Chunk>, name: string, seen = new Set<string>()): Set<string> {
  if (!seen.has(name)) {
    seen.add(name);
    for (const one of manifest[name]?.imports ?? []) needed(manifest, one, seen);
  }
  return seen;
}

test('the first load is under 250 KB of packed script, and every page with it too', () => {
  const manifest = readManifest();
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) as string;
  const packedBytes = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + gzipSync(readFileSync(`${dist}${manifest[name]?.file}`)).length, 0);
  const first = needed(manifest, entry);
  const bytes = packedBytes(first);
  console.log(`First load: ${(bytes / 1024).toFixed(1)} KB gzip of script in ${first.size} files.`);
  expect(bytes).toBeGreaterThan(50 * 1024);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
});

test('each page is a chunk of its own, loaded when it is opened', () => {
  const manifest = readManifest();
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) as string;
  const first = needed(manifest, entry);
  const pages = Object.keys(manifest).filter((name) => /^src\/pages\/.*-page\.tsx$/.test(name));
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.filter((name) => first.has(name))).toEqual([]);
});

test('every script and style sheet stands there packed as well', () => {
  const names = readdirSync(`${dist}assets`);
  for (const name of names.filter((one) => /\.(js|css)$/.test(one))) {
    expect(names, name).toContain(`${name}.gz`);
    expect(names, name).toContain(`${name}.br`);
  }
});
