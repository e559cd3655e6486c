// What a run must be known by: the machine, the versions, the settings of PostgreSQL.
// Reads them; says nothing of figures.

import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { clusterSettings } from './cluster.ts';
import type { Door } from './doors.ts';
import { serverVersion } from './seed.ts';

function operatingSystem(): string {
  try {
    return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
  } catch {
    return process.platform;
  }
}

export async function describeMachine(door: Door, wrkVersion: string | null): Promise<string[]> {
  const [cpu] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const settings = Object.entries(clusterSettings).map(([name, value]) => `\`${name}=${value}\``);
  const wrk = wrkVersion === null ? '' : `, wrk ${wrkVersion}`;
  return [
    `Machine: ${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${gibibytes} GiB of memory, ${operatingSystem()}, Linux ${release()}`,
    `Versions: Node ${process.versions.node}, PostgreSQL ${await serverVersion(door)}${wrk}`,
    `PostgreSQL's own defaults (durable: \`fsync\` and \`synchronous_commit\` on) but for ${settings.join(', ')}`,
  ];
}
