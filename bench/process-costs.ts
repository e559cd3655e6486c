// What processes cost: processor time and memory of one and of all that descend from it, as /proc tells. Linux only.
// Reads /proc and nothing else; starts and ends nothing.

import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  readonly parentPid: number;
  /** In clock ticks, user and system: its own, and that of children which have ended and were waited for. */
  readonly ticks: number;
  readonly endedChildrenTicks: number;
  readonly rssPages: number;
}

/** Fixed by Linux for what /proc says, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;
/** Of every architecture that Node runs on under Debian; memory is for comparison, not for accounting. */
const PAGE_BYTES = 4096;

/** One line of /proc/<pid>/stat. The name of the program stands in brackets and may hold spaces and brackets itself. */
export function parseStat(line: string): ProcessStat {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  // The first field after the name is the third of proc(5).
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(line, 10),
    parentPid: field(4),
    ticks: field(14) + field(15),
    endedChildrenTicks: field(16) + field(17),
    rssPages: field(24),
  };
}

export interface Cost {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** The cost of a process and all its descendants. Grows only: what a child that ended has cost is kept by its parent. */
export function costOf(pid: number, processes: readonly ProcessStat[]): Cost {
  const family = new Set([pid]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const process of processes) if (family.has(process.parentPid)) family.add(process.pid);
  }
  const members = processes.filter((process) => family.has(process.pid));
  const sum = (of: (process: ProcessStat) => number): number => members.reduce((total, process) => total + of(process), 0);
  return {
    cpuSeconds: sum((process) => process.ticks + process.endedChildrenTicks) / TICKS_PER_SECOND,
    rssBytes: sum((process) => process.rssPages) * PAGE_BYTES,
  };
}

export function readProcesses(): ProcessStat[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [parseStat(readFileSync(`/proc/${name}/stat`, 'utf8'))];
    } catch {
      return []; // Ended since the directory was read.
    }
  });
}
