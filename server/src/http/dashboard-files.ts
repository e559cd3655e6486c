// The files of the built dashboard: found by name, read once, with the packed forms that the build left beside them.
// Knows nothing of requests; names that could lead out of the directory are no names here.

import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface DashboardFile {
  readonly type: string;
  readonly etag: string;
  readonly content: Buffer;
  /** The same, packed; left out where the build made none. */
  readonly brotli: Buffer | null;
  readonly gzip: Buffer | null;
}

export interface DashboardFiles {
  /** The page that every address of the dashboard begins with; null until it is built. */
  page(): Promise<string | null>;
  /** A file under `assets/`, whose name changes with its content. */
  asset(name: string): Promise<DashboardFile | null>;
  /** A file beside the page. */
  root(name: string): Promise<DashboardFile | null>;
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  png: 'image/png',
};

const NAME = /^[A-Za-z0-9_-][\w-]*(?:\.[\w-]+)*\.([a-z0-9]+)$/;

export function createDashboardFiles(directory: string): DashboardFiles {
  // Only files that exist are kept, and they never change under their name: as much memory as the build is large.
  const assets = new Map<string, DashboardFile>();
  let page: { readonly text: string; readonly changedAtMs: number } | null = null;

  async function load(path: string, name: string): Promise<DashboardFile | null> {
    const type = types[NAME.exec(name)?.[1] ?? ''];
    if (type === undefined) return null;
    const file = join(directory, path, name);
    const [content, brotli, gzip] = await Promise.all([readIfThere(file), readIfThere(`${file}.br`), readIfThere(`${file}.gz`)]);
    return content === null ? null : { type, etag: `"${hash('sha256', content, 'base64url').slice(0, 22)}"`, content, brotli, gzip };
  }

  return {
    async page() {
      const file = join(directory, 'index.html');
      const found = await stat(file).catch(noneIfMissing);
      if (found === null) return null;
      // Built anew while the server runs: the old page names files that are gone.
      if (page?.changedAtMs !== found.mtimeMs) {
        const text = await readIfThere(file);
        page = text === null ? null : { text: text.toString('utf8'), changedAtMs: found.mtimeMs };
      }
      return page?.text ?? null;
    },
    async asset(name) {
      const known = assets.get(name);
      if (known !== undefined) return known;
      const file = await load('assets', name);
      if (file !== null) assets.set(name, file);
      return file;
    },
    root: (name) => load('.', name),
  };
}

function noneIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ENAMETOOLONG') return null;
  throw error;
}

function readIfThere(file: string): Promise<Buffer | null> {
  return readFile(file).catch(noneIfMissing);
}
