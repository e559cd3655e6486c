// The files of an empty embedded database, made along with the installation: PostgreSQL takes seconds to make them, a copy a fraction of one.
// Only a first start is the sooner for it; where they are missing or cannot be read, they are made then. They hold nothing of anybody.

import { constants, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const installed = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** Another version of PGlite has files of its own. Null where the packages are not beside the program. */
function templateDirectory(packages: string): string | null {
  const file = join(packages, '@electric-sql/pglite/package.json');
  if (!existsSync(file)) return null;
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return join(packages, '.cache/tranche-embedded', version);
}

/** Makes the template, unless it is there. `create` makes the files of a database in a directory, whole or not at all. */
export async function makeTemplate(create: (directory: string) => Promise<void>, packages = installed): Promise<void> {
  const template = templateDirectory(packages);
  if (template === null || existsSync(template)) return;
  mkdirSync(dirname(template), { recursive: true });
  await create(template);
}

/** Whether `directory` is now a copy of the template; where it is not, it is not there. */
export function copyTemplate(directory: string, packages = installed): boolean {
  const template = templateDirectory(packages);
  if (template === null || !existsSync(template)) return false;
  try {
    cpSync(template, directory, { recursive: true, mode: constants.COPYFILE_FICLONE });
    return true;
  } catch {
    rmSync(directory, { recursive: true, force: true });
    return false;
  }
}
