// The reading of /proc: fields in their places, descendants counted, the odd program name survived.
// Starts no processes.

import { expect, test } from 'vitest';
import { costOf, type ProcessStat, parseStat, readProcesses } from './process-costs.ts';

test('a line of /proc is read by its fields, whatever the name of the program', () => {
  const line = '42 (odd ) name (x) S 7 42 42 0 -1 4194560 100 0 0 0 250 50 30 20 20 0 11 0 5000 900000 1234 18446744073709551615\n';
  expect(parseStat(line)).toEqual({ pid: 42, parentPid: 7, ticks: 300, endedChildrenTicks: 50, rssPages: 1234 });
});

test('the cost of a process includes its children, theirs and the ended ones, and nobody else', () => {
  const stat = (pid: number, parentPid: number): ProcessStat => ({ pid, parentPid, ticks: 100, endedChildrenTicks: 10, rssPages: 1 });
  // A grandchild may stand before its parent.
  const processes = [stat(4, 3), stat(2, 1), stat(3, 2), stat(9, 1)];
  expect(costOf(2, processes)).toEqual({ cpuSeconds: 3.3, rssBytes: 3 * 4096 });
});

test('this process is found, with memory and time', () => {
  const own = costOf(process.pid, readProcesses());
  expect(own.rssBytes).toBeGreaterThan(10_000_000);
  expect(own.cpuSeconds).toBeGreaterThan(0);
});
