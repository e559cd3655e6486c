// Where the programs of the other languages are, or why they are not: tests that need them say so instead of failing on a machine without.
// Installs nothing.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Toolchain {
  readonly path: string;
}

export interface Missing {
  readonly missing: string;
}

const VERSION_TIMEOUT_MS = 20_000;
const MIN_GO_MINOR = 23;

const venvPython = fileURLToPath(new URL('../python/.venv/bin/python', import.meta.url));

/** The Python that sdks/python/run-tests has prepared, with everything the client needs. */
export function findPython(): Toolchain | Missing {
  if (existsSync(venvPython)) return { path: venvPython };
  return { missing: 'sdks/python/.venv is not there; sdks/python/run-tests makes it (it needs Python 3.10 or later with venv)' };
}

/** A Python that sdks/python/run-tests can make an environment with. */
export function findPythonWithVenv(): Toolchain | Missing {
  for (const path of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10']) {
    if (says(path, ['-c', 'import sys, venv, ensurepip; print(sys.version_info >= (3, 10))']).includes('True')) return { path };
  }
  return { missing: 'Python 3.10 or later with venv is not installed (Debian: apt-get install python3-venv)' };
}

export function findGo(): Toolchain | Missing {
  for (const path of ['go', '/usr/local/go/bin/go', '/usr/lib/go-1.23/bin/go']) {
    const minor = Number(/go1\.(\d+)/.exec(says(path, ['version']))?.[1] ?? 0);
    if (minor >= MIN_GO_MINOR) return { path };
  }
  return { missing: `Go 1.${MIN_GO_MINOR} or later is not installed` };
}

/** What a program prints; nothing where it is not there or fails. */
function says(path: string, words: readonly string[]): string {
  try {
    return execFileSync(path, words, { encoding: 'utf8', timeout: VERSION_TIMEOUT_MS, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}
