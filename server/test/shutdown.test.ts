// How a serving process stops and another takes its place: what was accepted is finished, and one directory serves one process.
// Real processes and bare sockets, since a client library would hide what is tested here.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dataDirectory, places, type ServerProcess, someKey, startServer, tranche } from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { openReceiver, until } from './support/webhook-fixtures.ts';

/** Supervisors commonly kill after 30 s, and container platforms after 10 s; what is under way here takes far less. */
const PROMPT_MS = 8_000;

const embedded = async (): Promise<Record<string, string>> => ({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: someKey() });

interface OpenRequest {
  readonly socket: Socket;
  readonly received: () => string;
  readonly ended: Promise<unknown>;
  finish(): void;
}

/** A POST of a project whose headers and half a body have been received by the server; it said so with 100 Continue. */
async function sendHalf(server: ServerProcess, key: string, clientId: string): Promise<OpenRequest> {
  const body = JSON.stringify({ name: 'Half a body at first', client_id: clientId });
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = once(socket, 'close');
  socket.write(
    `POST /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nExpect: 100-continue\r\n\r\n`,
  );
  await until(() => text.includes('100 Continue'));
  socket.write(body.slice(0, 20));
  return { socket, received: () => text, ended, finish: () => void socket.write(body.slice(20)) };
}

const isStopping = (server: ServerProcess): Promise<void> => until(() => server.stderr().includes('"stopping'));

describe.each(places)('SIGTERM, $name', (place) => {
  test.skipIf(!place.available)('in the middle of load: exit code 0, what was answered is there, and nothing is half done', async () => {
    const variables = await place.make();
    const first = await startServer(variables);
    const load = new Load([variables.TRANCHE_API_KEY as string], randomFrom(1));
    const running = load.run([first], 12);
    await until(() => load.answered >= 100);
    const begun = performance.now();
    const ended = await first.stop();
    expect(performance.now() - begun).toBeLessThan(PROMPT_MS);
    load.stop();
    await running;
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(first.log().filter((line) => line.level >= 40)).toEqual([]);

    const second = await startServer(variables);
    load.check(await readBooks(second));
    await load.settle(second);
    load.check(await readBooks(second));
    expect((await tranche(['verify'], variables)).code).toBe(0);
  });
});

describe('a process that is told to stop', () => {
  test('answers a request of which half has arrived, however often it is told, and takes no new connection', async () => {
    const variables = await embedded();
    const server = await startServer(variables);
    const open = await sendHalf(server, variables.TRANCHE_API_KEY as string, 'half');
    server.signal('SIGTERM');
    await isStopping(server);
    server.signal('SIGTERM');
    server.signal('SIGINT');
    await expect(server.call('GET', '/healthz')).rejects.toThrow('fetch failed');
    open.finish();
    await open.ended;
    expect(open.received()).toMatch(/HTTP\/1\.1 201 Created.*connection: close.*"client_id":"half"/is);
    expect((await server.ended).code).toBe(0);

    const next = await startServer(variables);
    expect((await next.ok('GET', '/v1/projects?client_id=half')).data).toHaveLength(1);
  });

  test('does not wait for ever for a client that goes silent, and still ends in good order', async () => {
    const variables = await embedded();
    const server = await startServer(variables);
    const silent = await sendHalf(server, variables.TRANCHE_API_KEY as string, 'silent');
    const idle = connect(server.port, '127.0.0.1');
    await once(idle, 'connect');
    const begun = performance.now();
    const ended = await server.stop();
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(ended.stderr).toContain('"msg":"stopped"');
    await silent.ended;
    idle.destroy();
  });

  test('waits for the webhooks under way; one that takes too long is sent again by the next process', async () => {
    const variables = await embedded();
    let answerFirst = (): void => undefined;
    const prompt = await openReceiver((response) => (answerFirst = () => void response.end()));
    const slow = await openReceiver(() => undefined);
    const first = await startServer(variables);
    const endpoints: string[] = [];
    for (const { url } of [prompt, slow]) endpoints.push((await first.ok('POST', '/v1/webhook_endpoints', { body: { url } })).id);
    await first.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    await until(() => prompt.received.length === 1 && slow.received.length === 1);
    const stopped = first.stop();
    await isStopping(first);
    answerFirst();
    expect((await stopped).code).toBe(0);

    const second = await startServer(variables);
    const statuses = async (id: string | undefined) =>
      (await second.ok('GET', `/v1/webhook_endpoints/${id}/deliveries`)).data.map((delivery: { status: string }) => delivery.status);
    expect(await statuses(endpoints[0])).toEqual(['succeeded']);
    expect(await statuses(endpoints[1])).toEqual(['pending']);
    expect(prompt.received).toHaveLength(1);
  });
});

describe('one data directory', () => {
  test('serves one process: a second one ends with what to do, while the first goes on', async () => {
    const variables = await embedded();
    const first = await startServer(variables);
    const second = await tranche(['serve'], { ...variables, PORT: '0' });
    expect([second.code, second.stdout]).toEqual([1, '']);
    expect(second.stderr).toContain(`pid ${first.pid}`);
    expect(second.stderr.replaceAll('\n', ' ')).toMatch(/Stop that process, or set DATA_DIR .* or set DATABASE_URL/);
    expect(second.stderr).not.toMatch(/\n\s+at /);
    expect((await first.call('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } })).status).toBe(201);
    expect((await tranche(['verify'], variables)).code).toBe(0);
  });

  test('passes to a process that is started before the old one has ended', async () => {
    const variables = await embedded();
    const first = await startServer(variables);
    const open = await sendHalf(first, variables.TRANCHE_API_KEY as string, 'overlap');
    const second = startServer(variables);
    first.signal('SIGTERM');
    await isStopping(first);
    // The overlap itself is what is tried here: long enough that the new process finds the directory taken.
    await setTimeout(1_500);
    open.finish();
    expect((await first.ended).code).toBe(0);
    const next = await second;
    expect((await next.ok('GET', '/v1/projects?client_id=overlap')).data).toHaveLength(1);
  });

  test('is free at once after kill -9, and what the dead process left behind is in nobody’s way', async () => {
    const variables = await embedded();
    const first = await startServer(variables);
    await first.kill9();
    expect(existsSync(join(variables.DATA_DIR as string, 'control.sock'))).toBe(true);
    const second = await startServer(variables);
    expect((await tranche(['keys', 'list'], variables)).code).toBe(0);
    expect((await second.stop()).code).toBe(0);
  });
});
