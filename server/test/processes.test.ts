// `serve --processes`: one port, several processes, and what their users notice when one is restarted, crashes or hangs. Nothing, mostly.
// Real processes, real signals, and a client that forgives nothing.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyPostgresDatabase } from './support/databases.ts';
import { freePort } from './support/postgres-server.ts';
import { minuteWith, openStream, startSteadyLoad } from './support/requests.ts';
import {
  type Answer,
  dataDirectory,
  hasPostgres,
  type Json,
  postgresVariables,
  readMetrics,
  type ServerProcess,
  startServer,
  tranche,
} from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { until } from './support/webhook-fixtures.ts';

interface Whole {
  readonly variables: Record<string, string>;
  readonly key: string;
  readonly server: ServerProcess;
  /** Where its operators ask. */
  readonly operators: string;
}

async function start(count: number, more: Record<string, string> = {}): Promise<Whole> {
  const variables: Record<string, string> = {
    ...postgresVariables(await emptyPostgresDatabase()),
    DATABASE_POOL_SIZE: '4',
    METRICS_PORT: '0',
    ...more,
  };
  const server = await startServer(variables, ['--processes', String(count)]);
  const operators = /Metrics +(http:\S+)\/metrics/.exec(server.stdout())?.[1] ?? '';
  return { variables, key: variables.TRANCHE_API_KEY as string, server, operators };
}

/** The processes that serve, or are about to. */
const children = ({ pid }: ServerProcess): number[] => {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return [];
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const saysInLog = (server: ServerProcess, words: string): number => server.log().filter(({ msg }) => String(msg).includes(words)).length;

const serving = async ({ operators }: Whole): Promise<number | undefined> =>
  (await readMetrics(operators)).get('tranche_processes{state="serving"}');

describe.skipIf(!hasPostgres)('several processes on one port', () => {
  test('share requests, a key’s minute and a workspace’s numbers; the banner is printed once', async () => {
    const limit = 160;
    const { server, variables, key } = await start(3, { RATE_LIMIT_PER_MINUTE: '1000000' });
    expect(server.stdout().match(/serves at/g)).toHaveLength(1);
    expect(server.stdout()).toMatch(/Processes {2}3, restarted one after the other on SIGHUP/);
    expect(children(server)).toHaveLength(3);
    const load = new Load([key], randomFrom(5));
    const running = load.run([server], 12);
    await until(() => load.answered >= 200);
    load.stop();
    await running;
    await load.settle(server);
    load.check(await readBooks(server));
    // One that has used nothing of its minute.
    const { secret } = await server.ok('POST', '/v1/api_keys', { body: { name: 'fresh', scopes: ['projects:read'] } });
    expect((await server.stop()).code).toBe(0);
    expect(server.log().filter(({ level }) => level >= 40)).toEqual([]);
    expect((await tranche(['verify'], variables)).code).toBe(0);

    const limited = await startServer({ ...variables, RATE_LIMIT_PER_MINUTE: String(limit) }, ['--processes', '3']);
    await minuteWith(15);
    const minute = Math.floor(Date.now() / 60_000);
    const statuses: number[] = [];
    // Until all three have nothing left, which one refusal does not say.
    while (statuses.filter((status) => status === 429).length < 60) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => limited.call('GET', '/v1/projects?limit=1', { key: secret })));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(Math.floor(Date.now() / 60_000), 'the minute ended before the test did').toBe(minute);
    expect(statuses.filter((status) => status === 200)).toHaveLength(limit);
  });

  test('a key that is revoked writes nothing on any of them from that moment, and reads nothing after a second (I-12)', async () => {
    const { server } = await start(3);
    const { id, secret } = await server.ok('POST', '/v1/api_keys', { body: { name: 'k', scopes: ['projects:read', 'projects:write'] } });
    // Each over a connection of its own, which are dealt out in turn: so all three are asked, several times over.
    const ask = async (method: 'GET' | 'POST'): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const sent = request({ port: server.port, method, path: '/v1/projects', headers, agent: false });
      sent.end(method === 'POST' ? '{"name":"p","client_id":"c"}' : undefined);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode as number;
    };
    const askAll = async (method: 'GET' | 'POST'): Promise<Set<number>> =>
      new Set(await Promise.all(Array.from({ length: 12 }, () => ask(method))));
    // Read without a pause, so that every process has the key at hand and renews it.
    let isOver = false;
    const reading = (async () => {
      while (!isOver) await askAll('GET');
    })();
    for (let i = 0; i < 3; i += 1) expect(await askAll('POST')).toEqual(new Set([201]));
    await server.ok('DELETE', `/v1/api_keys/${id}`);
    const revokedAt = performance.now();
    expect(await askAll('POST')).toEqual(new Set([401]));
    await until(() => performance.now() - revokedAt >= 1_000);
    for (let i = 0; i < 3; i += 1) expect(await askAll('GET')).toEqual(new Set([401]));
    isOver = true;
    await reading;
  });

  test('are told of together: series by process, what is of all once, and readiness', async () => {
    const whole = await start(2);
    const { server, operators } = whole;
    for (let i = 0; i < 20; i += 1)
      await fetch(`${server.url}/v1/projects`, { headers: { authorization: `Bearer ${whole.key}`, connection: 'close' } });
    const samples = await readMetrics(operators);
    const answered = [1, 2].map((n) => samples.get(`tranche_http_requests_total{operation="listProjects",status="200",process="${n}"}`));
    expect(answered).toEqual([10, 10]);
    expect([...samples.keys()].filter((name) => name.startsWith('tranche_webhook_deliveries_pending'))).toEqual([
      'tranche_webhook_deliveries_pending',
    ]);
    await expect.poll(async () => (await readMetrics(operators)).get('tranche_webhook_workers'), { timeout: 15_000 }).toBe(2);
    expect(samples.get('process_resident_memory_bytes{process="supervisor"}')).toBeGreaterThan(0);
    for (const url of [operators, server.url]) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
    }
    const [first] = children(server) as [number];
    process.kill(first, 'SIGSTOP');
    await expect
      .poll(async () => (await fetch(`${operators}/readyz`)).json(), { timeout: 20_000 })
      .toMatchObject({ status: 'degraded', detail: expect.stringContaining('1 of 2 processes can work') });
    process.kill(first, 'SIGCONT');
    await expect.poll(async () => (await fetch(`${operators}/readyz`)).json(), { timeout: 20_000 }).toEqual({ status: 'ready' });
  });

  test('tell of all of them on the main port too, whichever is asked', async () => {
    const token = 'metrics-token-of-this-test';
    const { server } = await start(2, { METRICS_PORT: '', METRICS_TOKEN: token });
    const samples = await readMetrics(server.url, token);
    expect(samples.get('tranche_processes{state="serving"}')).toBe(2);
    expect([1, 2].map((n) => samples.has(`nodejs_heap_size_used_bytes{process="${n}"}`))).toEqual([true, true]);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  });

  test('finish on SIGTERM what they accepted, and none is left', async () => {
    const { server, variables, key } = await start(2);
    const pids = children(server);
    const load = new Load([key], randomFrom(6));
    const running = load.run([server], 12);
    await until(() => load.answered >= 100);
    const ended = await server.stop();
    load.stop();
    await running;
    expect([ended.code, ended.signal, pids.filter(isAlive)]).toEqual([0, null, []]);
    expect(server.log().filter(({ level }) => level >= 40)).toEqual([]);
    const next = await startServer(variables);
    load.check(await readBooks(next));
  });

  test('go with their supervisor when that is killed, and leave the port free', async () => {
    const { server, variables } = await start(2);
    const pids = children(server);
    await server.kill9();
    await until(() => pids.every((pid) => !isAlive(pid)));
    const next = await startServer({ ...variables, PORT: String(server.port) }, ['--processes', '2']);
    expect((await next.call('GET', '/v1/projects')).status).toBe(200);
  });
});

describe.skipIf(!hasPostgres)('a rolling restart', () => {
  test('under load fails no request of a client that keeps its connections; streams end and resume without a gap (I-27)', async () => {
    const whole = await start(2);
    const { server, key } = whole;
    const before = children(server);
    const reader = await openStream(server.url, key, '?after_seq=0');
    const load = startSteadyLoad(server.url, key, 12);
    await until(() => load.answered >= 200);
    for (const done of [1, 2]) {
      server.signal('SIGHUP');
      await expect.poll(() => saysInLog(server, 'rolling restart done'), { timeout: 55_000 }).toBe(done);
    }
    const enough = load.answered + 200;
    await until(() => load.answered >= enough);
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(children(server).filter((pid) => before.includes(pid))).toEqual([]);
    expect(await serving(whole)).toBe(2);
    expect(server.log().filter(({ level }) => level >= 40)).toEqual([]);

    // Ended in good order, not cut.
    await reader.ended;
    const resumed = await openStream(server.url, key, '', { 'last-event-id': String(reader.events.at(-1)?.seq ?? 0) });
    const last = (await server.ok('GET', '/v1/projects?limit=1')).data.length === 1 ? load : null;
    expect(last).not.toBeNull();
    await until(() => reader.events.length + resumed.events.length > 0 && isGapless([...reader.events, ...resumed.events]));
    const { body } = await server.call('POST', '/v1/projects', { body: { name: 'last', client_id: 'c' } });
    await until(() => resumed.events.some(({ data }) => data.projectId === body.id));
    expect(isGapless([...reader.events, ...resumed.events])).toBe(true);
  });

  test('is cut short by SIGTERM in good order: the process that was starting has accepted nothing', async () => {
    const { server } = await start(2);
    server.signal('SIGHUP');
    await until(() => children(server).length === 3);
    const pids = children(server);
    const ended = await server.stop();
    expect([ended.code, ended.signal, pids.filter(isAlive)]).toEqual([0, null, []]);
    expect(server.log().filter(({ level }) => level >= 40)).toEqual([]);
  });

  test('leaves an idle connection open for its client to use once more', async () => {
    const { server } = await start(1);
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const ask = (): void => void socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    ask();
    await until(() => text.includes('{"status":"ok"}'));
    // One that was opened ahead of need is not waited for.
    const silent = connect(server.port, '127.0.0.1');
    onTestFinished(() => void silent.destroy());
    await once(silent, 'connect');
    server.signal('SIGHUP');
    await expect.poll(() => saysInLog(server, 'retiring'), { timeout: 20_000 }).toBe(1);
    text = '';
    ask();
    const ended = once(socket, 'close');
    await until(() => text.includes('{"status":"ok"}'));
    expect(text).toMatch(/HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
    await ended;
    const answeredAt = performance.now();
    await once(silent, 'close');
    expect(performance.now() - answeredAt).toBeLessThan(20_000);
    await expect.poll(() => saysInLog(server, 'rolling restart done'), { timeout: 20_000 }).toBe(1);
  });
});

const isGapless = (events: readonly Json[]): boolean => events.every(({ seq }, i) => seq === i + 1);

describe.skipIf(!hasPostgres)('a process that crashes', () => {
  test('fails the requests that were under way on it and no other, and is replaced', async () => {
    const clients = 12;
    const whole = await start(3);
    const { server, key } = whole;
    const load = startSteadyLoad(server.url, key, clients);
    for (let round = 0; round < 3; round += 1) {
      const enough = load.answered + 100;
      await until(() => load.answered >= enough);
      const [doomed] = children(server) as [number];
      const failedBefore = load.failures.length;
      process.kill(doomed, 'SIGKILL');
      await expect.poll(() => saysInLog(server, 'a serving process died and is replaced'), { timeout: 20_000 }).toBe(round + 1);
      await expect.poll(() => serving(whole), { timeout: 30_000 }).toBe(3);
      // At most one for each connection that it held.
      expect(load.failures.length - failedBefore).toBeLessThanOrEqual(clients);
    }
    const failures = load.failures.length;
    const enough = load.answered + 200;
    await until(() => load.answered >= enough);
    await load.stop();
    expect(load.failures.slice(failures)).toEqual([]);
    // Cut, and never an error that somebody answered with.
    for (const failure of load.failures) expect(failure).toMatch(/ECONNRESET|socket hang up|EPIPE|aborted/);
  });

  test('gives the connection that it was about to be handed to another one', async () => {
    const { server } = await start(2);
    const [stuck] = children(server) as [number];
    process.kill(stuck, 'SIGSTOP');
    const answers: Promise<string>[] = [];
    for (let n = 0; n < 6; n += 1) {
      const socket = connect(server.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      answers.push(
        (async () => {
          let text = '';
          socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          await once(socket, 'close');
          return text.slice(0, 15);
        })(),
      );
    }
    let answered = 0;
    for (const answer of answers) void answer.then(() => (answered += 1));
    // The one that hangs holds one connection and is given no second.
    await until(() => answered === 5);
    process.kill(stuck, 'SIGKILL');
    expect(await Promise.all(answers)).toEqual(Array(6).fill('HTTP/1.1 200 OK'));
  });

  test('at its start over and over ends the whole, with a message that says so', async () => {
    const variables = postgresVariables(await emptyPostgresDatabase());
    const dies = encodeURIComponent('if (process.send !== undefined) process.exit(7)');
    const ended = await tranche(['serve', '--processes', '2'], {
      ...variables,
      PORT: '0',
      NODE_OPTIONS: `--import=data:text/javascript,${dies}`,
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr.replaceAll('\n', ' ')).toMatch(/die at their start, 5 times in a row, the last with exit code 7/);
    expect(ended.stdout).toBe('');
  });
});

describe('what cannot be', () => {
  test('several processes on the embedded database are refused, with what to do', async () => {
    const variables = { DATA_DIR: await dataDirectory(), PORT: '0' };
    for (const options of [
      ['--processes', '2'],
      ['--processes', '300'],
      ['--processes', 'many'],
    ]) {
      const ended = await tranche(['serve', ...options], variables);
      expect([ended.code, ended.stdout]).toEqual([1, '']);
      expect(ended.stderr.replaceAll(/\s+/g, ' ')).toMatch(
        options[1] === '2' ? /set DATABASE_URL to a PostgreSQL server.*leave --processes/ : /PROCESSES: must be/,
      );
    }
    // One process is what it has.
    const server = await startServer({ ...variables, TRANCHE_API_KEY: 'some-key-of-this-one-test' }, ['--processes', '1']);
    expect((await server.call('GET', '/v1/projects')).status).toBe(200);
    expect((await tranche(['keys', 'list'], variables)).stdout).toContain('TRANCHE_API_KEY');
    expect(server.stdout()).not.toContain('Processes');
  });

  test.skipIf(!hasPostgres)('a port that is taken is said once, before a first key is made', async () => {
    const { TRANCHE_API_KEY: _, ...variables } = postgresVariables(await emptyPostgresDatabase());
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const refused = await tranche(['serve', '--processes', '3'], { ...variables, PORT: String(port) });
    other.close();
    expect([refused.code, refused.stderr.match(/is in use/g), refused.stdout]).toEqual([1, ['is in use'], '']);
    const server = await startServer({ ...variables, PORT: String(port) }, ['--processes', '3']);
    const secrets = server.stdout().match(/^ +(tr_live_\S+)$/gm) as string[];
    expect(secrets).toHaveLength(1);
    const answer: Answer = await server.call('GET', '/v1/projects', { key: (secrets[0] as string).trim() });
    expect(answer.status).toBe(200);
    const doctor = await tranche(['doctor'], { ...variables, PORT: String(port), PROCESSES: '3' });
    expect(doctor.stdout).toMatch(/A server answers at 127\.0\.0\.1:\d+ and is\s+ready/);
  });
});
