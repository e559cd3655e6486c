// What tests of several processes ask with: a plain keep-alive client that forgives nothing, event streams, and time left in a minute.
// Knows addresses only.

import { Agent, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { readMessages, type StreamMessage } from '../../src/command-line/stream-messages.ts';
import type { Json } from './server-process.ts';

/** Waits until so many seconds are left of this minute, a minute at most. */
export async function minuteWith(seconds: number): Promise<void> {
  const left = 60 - ((Date.now() / 1000) % 60);
  if (left < seconds) await new Promise((resolve) => setTimeout(resolve, left * 1000 + 50));
}

export interface StreamReader {
  readonly events: Json[];
  /** Resolves when the server has ended the stream; rejects when it was cut. */
  readonly ended: Promise<void>;
}

/** Opens an event stream; returns when the server has said where it begins. */
export async function openStream(url: string, key: string, query = '', headers: Record<string, string> = {}): Promise<StreamReader> {
  const leaving = new AbortController();
  const init = { headers: { authorization: `Bearer ${key}`, ...headers }, signal: leaving.signal };
  const response = await fetch(`${url}/v1/events/stream${query}`, init);
  onTestFinished(() => leaving.abort());
  if (response.status !== 200) throw new Error(`the stream was answered ${response.status}`);
  const events: Json[] = [];
  const begun = Promise.withResolvers<void>();
  const ended = (async () => {
    for await (const message of readMessages(response.body as AsyncIterable<Uint8Array>) as AsyncIterable<StreamMessage>) {
      begun.resolve();
      if (message.data !== null) events.push(JSON.parse(message.data));
    }
  })();
  ended.catch(begun.reject);
  await begun.promise;
  return { events, ended };
}

export interface SteadyLoad {
  /** Whole answers so far. */
  answered: number;
  /** Everything that was not a success: a status, or why no answer came. */
  readonly failures: string[];
  stop(): Promise<void>;
}

/**
 * Clients that ask without a pause over connections that they keep, as a plain HTTP library does: none asks twice, and each reads its answer
 * to the end. Reads and writes in turn.
 */
export function startSteadyLoad(url: string, key: string, clients: number): SteadyLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let isRunning = true;
  const load: SteadyLoad = {
    answered: 0,
    failures: [],
    async stop() {
      isRunning = false;
      await all;
      agent.destroy();
    },
  };

  function ask(method: 'GET' | 'POST'): Promise<void> {
    return new Promise((done) => {
      const body = method === 'GET' ? '' : '{"name":"p","client_id":"steady"}';
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
      const fail = (reason: string): void => {
        load.failures.push(`${method}: ${reason}`);
        done();
      };
      const call = request(`${url}/v1/projects${method === 'GET' ? '?limit=1' : ''}`, { method, agent, headers, timeout: 20_000 });
      call.on('timeout', () => call.destroy(new Error('no answer in 20 s')));
      call.on('error', (error) => fail(error.message));
      call.on('response', (response) => {
        response.resume();
        response.on('error', (error) => fail(error.message));
        response.on('end', () => {
          if ((response.statusCode ?? 0) >= 300) return fail(String(response.statusCode));
          load.answered += 1;
          done();
        });
      });
      call.end(body);
    });
  }

  const all = Promise.all(
    Array.from({ length: clients }, async () => {
      for (let n = 0; isRunning; n += 1) await ask(n % 20 === 0 ? 'POST' : 'GET');
    }),
  );
  onTestFinished(() => load.stop());
  return load;
}
