// The load: wrk, in a process of its own, sends prepared requests over 64 connections and reports what came back.
// Measures only; prepares nothing and judges nothing.

import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CONNECTIONS = 64;
const script = fileURLToPath(new URL('requests.lua', import.meta.url));

export interface Shot {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** JSON on one line. */
  readonly body?: string;
  /** How many events it makes, for the books to be held against the figures. */
  readonly events?: number;
}

export interface Load {
  readonly shots: readonly Shot[];
  /** Each request once, in order; otherwise from the beginning again when they are used up. */
  readonly once: boolean;
  readonly seconds: number;
}

export interface Measure {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers with a status of 400 or more, and connections that broke. */
  readonly faults: number;
}

export function requireWrk(): string {
  try {
    // wrk has no flag that prints its version and succeeds.
    execFileSync('which', ['wrk'], { stdio: 'ignore' });
  } catch {
    throw new Error('wrk, the load generator, is not installed. On Debian: apt-get install wrk');
  }
  let text = '';
  try {
    text = execFileSync('wrk', ['-v'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    text = String((error as { stdout?: unknown }).stdout ?? '');
  }
  return /\d+\.\d+(?:\.\d+)?/.exec(text)?.[0] ?? 'unknown';
}

export function parseMeasure(output: string): Measure {
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  const raw = JSON.parse(line) as Record<'requests' | 'duration_us' | 'p50_us' | 'p99_us' | 'not_ok' | 'broken', number>;
  return {
    answers: raw.requests,
    perSecond: raw.requests / (raw.duration_us / 1e6),
    p50Ms: raw.p50_us / 1000,
    p99Ms: raw.p99_us / 1000,
    faults: raw.not_ok + raw.broken,
  };
}

const line = ({ method, path, key, body = '' }: Shot): string => `${method}\t${path}\t${key}\t${body}\n`;

export async function fire(port: number, load: Load, directory: string): Promise<Measure> {
  const file = join(directory, 'requests.tsv');
  writeFileSync(file, load.shots.map(line).join(''));
  const parameters = ['-t1', `-c${CONNECTIONS}`, `-d${load.seconds}s`, '--timeout', '10s', '-s', script, `http://127.0.0.1:${port}`, '--'];
  parameters.push(file, load.once ? 'once' : 'repeat');
  return new Promise((resolve, reject) => {
    execFile('wrk', parameters, { timeout: (load.seconds + 60) * 1000, maxBuffer: 1 << 20 }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`wrk failed: ${stderr || error.message}`));
      else resolve(parseMeasure(stdout));
    });
  });
}
