// Builds what is published: JavaScript modules and their types in dist. `npm pack` calls it.
// Compiles only; what is generated from openapi.json is in src already.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const outDir = process.argv[2] ?? join(here, 'dist');

rmSync(outDir, { recursive: true, force: true });
execFileSync(process.execPath, [compiler, '-p', join(here, 'tsconfig.build.json'), '--outDir', outDir], { stdio: 'inherit' });

// The compiler leaves the extensions in declarations as they are; older ones of its kind would not find the files.
for (const file of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.d.ts')) continue;
  const path = join(outDir, file);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(from '\.[^']*)\.ts';/g, "$1.js';"));
}
