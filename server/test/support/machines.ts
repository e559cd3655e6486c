// Machines for servers: a network namespace each, with an address of its own and nothing but a wire to this test, where the system lets us
// make them; else ports of one machine. The database is at the other end of the wire.

import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { type Environment, type ServerProcess, startServer } from './server-process.ts';
import { openWire } from './wire.ts';

const ip = (...words: string[]): void => void execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'ignore'], timeout: 10_000 });

function canMakeNamespaces(): boolean {
  const name = `tranche-try-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return true;
  } catch {
    return false;
  }
}

const hasNamespaces = canMakeNamespaces();

/** For the names of tests, so that a run says what it has proved. */
export const machineKind = hasNamespaces ? 'machines (network namespaces)' : 'machines (ports of one; no network namespaces here)';

export interface Machine {
  /** Starts a server there; its variables lead to the database over the wire. */
  start(variables: Environment, options?: readonly string[]): Promise<ServerProcess>;
}

/** So many machines that reach one PostgreSQL and not each other. They go with the test. */
export async function makeMachines(count: number): Promise<Machine[]> {
  if (!hasNamespaces) return Array.from({ length: count }, () => ({ start: startServer }));
  // Addresses that are set aside for tests of networks, four for each wire.
  const first = randomInt(0, 2 ** 14) * 4;
  const machines: Machine[] = [];
  for (let i = 0; i < count; i += 1) machines.push(makeMachine(`tr${process.pid}-${randomInt(1e4)}`, (first + 4 * i) % 2 ** 16));
  return machines;
}

function makeMachine(name: string, offset: number): Machine {
  const address = (n: number): string => `198.18.${(offset + n) >> 8}.${(offset + n) & 255}`;
  ip('netns', 'add', name);
  onTestFinished(() => ip('netns', 'del', name));
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'wire', 'netns', name);
  ip('addr', 'add', `${address(1)}/30`, 'dev', name);
  ip('link', 'set', name, 'up');
  for (const words of [
    ['addr', 'add', `${address(2)}/30`, 'dev', 'wire'],
    ['link', 'set', 'wire', 'up'],
    ['link', 'set', 'lo', 'up'],
  ])
    ip('-n', name, ...words);
  return {
    async start(variables, options) {
      const database = new URL(variables.DATABASE_URL as string);
      const { port } = await openWire(Number(database.port), address(1));
      database.host = `${address(1)}:${port}`;
      const settings = { ...variables, HOST: address(2), DATABASE_URL: database.href };
      return startServer(settings, options, ['ip', 'netns', 'exec', name]);
    },
  };
}
