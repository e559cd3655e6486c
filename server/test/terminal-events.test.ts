// `tranche listen` and `tranche trigger` as a developer uses them, against a running server and a receiver on this machine.
// Everything printed fits a terminal, and gives no key away.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { line, listen } from '../src/command-line/listen.ts';
import { triggerable } from '../src/command-line/trigger.ts';
import { allEventTypes } from '../src/domain/event.ts';
import { dataDirectory, type ServerProcess, someKey, startServer, tranche } from './support/server-process.ts';
import { openReceiver, until } from './support/webhook-fixtures.ts';

const program = fileURLToPath(new URL('../bin/tranche.js', import.meta.url));

async function serving(more: Record<string, string> = {}): Promise<{ server: ServerProcess; key: string; directory: string }> {
  const [directory, key] = [await dataDirectory(), someKey()];
  return { server: await startServer({ DATA_DIR: directory, TRANCHE_API_KEY: key, ...more }), key, directory };
}

const expectToFit = (text: string): void => {
  for (const printed of text.split('\n')) expect(printed.length, printed).toBeLessThanOrEqual(80);
};

interface Listening {
  readonly lines: string[];
  readonly ended: Promise<void>;
  readonly leave: () => void;
}

function startListening(url: string, key: string, forwardTo: string, secret: string, types: readonly string[] | null = null): Listening {
  const leaving = new AbortController();
  const lines: string[] = [];
  const options = { target: { url, key }, forwardTo, secret, types, signal: leaving.signal, say: (text: string) => void lines.push(text) };
  const ended = listen(options);
  ended.catch(() => {});
  onTestFinished(async () => {
    leaving.abort();
    await ended.catch(() => {});
  });
  return { lines, ended, leave: () => leaving.abort() };
}

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('tranche trigger', () => {
  test('brings about every kind of event there is, and shows it', async () => {
    const { server, key } = await serving();
    expect([...triggerable].sort()).toEqual([...allEventTypes].sort());
    for (const type of allEventTypes) {
      const { code, stdout, stderr } = await tranche(['trigger', type], { TRANCHE_URL: server.url, TRANCHE_API_KEY: key });
      expect([type, code, stderr]).toEqual([type, 0, '']);
      expect(stdout).toMatch(new RegExp(`\\n${type.replace('.', '\\.')}  #\\d+  evt_[0-9a-z]{26}\\n$`));
      expectToFit(stdout);
    }
  });

  test.each([
    [['trigger', 'payment.lost'], { TRANCHE_API_KEY: 'x'.repeat(20) }, /^There is no event "payment.lost". There are: project.created,/],
    [['trigger', 'payment.released'], {}, /^An API key is needed: set TRANCHE_API_KEY./],
    [['trigger', 'payment.released', '--url', 'http://127.0.0.1:9', '--api-key', 'k'], {}, /^http:\/\/127.0.0.1:9 cannot be reached/],
    [['trigger', 'payment.released', '--url', 'nowhere', '--api-key', 'k'], {}, /^nowhere is not an http or https URL./],
    [['listen', '--forward-to', 'localhost:3000'], { TRANCHE_API_KEY: 'k' }, /^--forward-to localhost:3000 is not an http or https URL./],
    [['listen', '--forward-to', 'http://localhost:3000', '--secret', 'x'], { TRANCHE_API_KEY: 'k' }, /^--secret must be whsec_/],
    [['listen', '--forward-to', 'http://localhost:3000', '--events', 'a,b'], { TRANCHE_API_KEY: 'k' }, /^There is no event "a"./],
  ] as const)('%j says what would be right', async (words, variables, message) => {
    const { code, stdout, stderr } = await tranche(words, variables);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('tranche listen', () => {
  test('forwards live events signed with the secret that it prints, and prints each with its status and time in 80 columns', async () => {
    const { server, key } = await serving();
    const receiver = await openReceiver((response, before) => void response.writeHead(before === 0 ? 200 : 500).end());
    const child = spawn(process.execPath, [program, 'listen', '--forward-to', receiver.url, '--events', 'payment.released'], {
      env: { ...process.env, TRANCHE_URL: server.url, TRANCHE_API_KEY: key },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed += text));
    await until(() => printed.includes('Ready.'));
    for (const time of [1, 2]) {
      await tranche(['trigger', 'payment.released'], { TRANCHE_URL: server.url, TRANCHE_API_KEY: key });
      await until(() => receiver.received.length === time);
    }
    const secret = /secret {2}(whsec_\S+)/.exec(printed)?.[1] as string;
    const [first] = receiver.received;
    expect(new Webhook(secret).verify(first?.body as string, first?.headers as Record<string, string>)).toMatchObject({
      event: 'payment.released',
    });
    await until(() => (printed.match(/payment\.released +#/g) ?? []).length === 2);
    expect(printed).toMatch(/^\d\d:\d\d:\d\d {2}payment\.released +#\d+ +200 +\d+ ms$/m);
    expect(printed).toMatch(/^\d\d:\d\d:\d\d {2}payment\.released +#\d+ +500 +\d+ ms$/m);
    expectToFit(printed);
    expect(printed).not.toContain(key);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  test('comes back when the server was away, and misses nothing of what happened meanwhile', async () => {
    const { server, key, directory } = await serving();
    const receiver = await openReceiver();
    const { lines } = startListening(server.url, key, receiver.url, SECRET, ['project.created']);
    await until(() => lines.some((text) => text.startsWith('Ready.')));
    const create = (at: ServerProcess) => at.call('POST', '/v1/projects', { key, body: { name: 'p', client_id: 'c' } });
    await create(server);
    await until(() => receiver.received.length === 1);
    const { port } = new URL(server.url);
    await server.stop();
    await until(() => lines.some((text) => text.startsWith('Not connected')));
    const elsewhere = await startServer({ DATA_DIR: directory, TRANCHE_API_KEY: key });
    await create(elsewhere);
    await elsewhere.stop();
    const again = await startServer({ DATA_DIR: directory, TRANCHE_API_KEY: key, PORT: port });
    await until(() => receiver.received.length === 2);
    await create(again);
    await until(() => receiver.received.length === 3);
    expect(receiver.received.map(({ headers }) => headers['tranche-seq'])).toEqual(['1', '2', '3']);
    for (const text of lines.filter((text) => /#\d/.test(text))) expectToFit(text);
  });

  test('ends with a word when its key may not read events', async () => {
    const { server } = await serving();
    const { ended } = startListening(server.url, 'not-a-key-of-this-server', 'http://127.0.0.1:9/', SECRET);
    await expect(ended).rejects.toThrow(/The event stream was refused. invalid_api_key/);
  });

  test('fits every event and every outcome into a line', () => {
    for (const type of allEventTypes)
      for (const outcome of ['200', 'timeout', 'ECONNREFUSED', 'ERR_TLS_CERT_ALTNAME_INVALID'])
        expect(line(new Date(), { type, seq: 123_456_789 }, outcome, 999_999).length).toBeLessThanOrEqual(80);
  });
});
