// The files of an empty embedded database, made along with the installation: PostgreSQL takes seconds to make them, a copy a fraction of one.
// Only a first start is the sooner for it; where they are missing or cannot be read, they are made then. They hold nothing of anybody.

import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishTree } from './durable-fs.ts';

const installed = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** For whom a copy is. PGlite makes files that anybody may write, and guards them by the directory alone. */
const modes = {
  /** Like everything else that is installed, whoever the service runs as. */
  everybodyToRead: { directory: 0o755, file: 0o644 },
  owner: { directory: 0o700, file: 0o600 },
} as const;

/** Another version of PGlite has files of its own. Null where the packages are not beside the program. */
function templateDirectory(packages: string): string | null {
  const file = join(packages, '@electric-sql/pglite/package.json');
  if (!existsSync(file)) return null;
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return join(packages, '.cache/tranche-embedded', version);
}

/** Not `fs.cpSync`, which ends the process when it may not read a directory, and makes directories of any mode. */
function copyTree(from: string, to: string, mode: (typeof modes)[keyof typeof modes]): void {
  mkdirSync(to, { mode: mode.directory });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target, mode);
    else {
      copyFileSync(source, target, constants.COPYFILE_FICLONE);
      chmodSync(target, mode.file);
    }
  }
}

/** Makes the template, unless it is there. `create` makes the files of a database in a directory that is not there yet. */
export async function makeTemplate(create: (directory: string) => Promise<void>, packages = installed): Promise<void> {
  const template = templateDirectory(packages);
  if (template === null || existsSync(template)) return;
  mkdirSync(dirname(template), { recursive: true });
  // Of this process alone: another installation may be at the same.
  const [made, unfinished] = [`${template}.made.${process.pid}`, `${template}.${process.pid}`];
  try {
    await create(made);
    copyTree(made, unfinished, modes.everybodyToRead);
    if (!existsSync(template)) publishTree(unfinished, template);
  } finally {
    for (const left of [made, unfinished]) rmSync(left, { recursive: true, force: true });
  }
}

/** Whether `directory`, which is not there yet, is now a copy of the template; where it is not, it still is not there. */
export function copyTemplate(directory: string, packages = installed): boolean {
  const template = templateDirectory(packages);
  if (template === null || !existsSync(template)) return false;
  try {
    copyTree(template, directory, modes.owner);
    return true;
  } catch {
    rmSync(directory, { recursive: true, force: true });
    return false;
  }
}
