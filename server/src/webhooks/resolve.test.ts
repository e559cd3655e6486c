// The resolver against name servers on real sockets, good, silent and dead, and against a hosts file.
// Asks no name server but those that a test opens on loopback.

import { createSocket, type RemoteInfo } from 'node:dgram';
import { promises as dns, type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createResolver, parseHosts, type Resolve, type ResolverOptions } from './resolve.ts';

type Answers = (name: string, type: 'A' | 'AAAA') => Buffer[] | 'silent' | 'unknown';

const TYPES = { A: 1, AAAA: 28 } as const;
const NO_SUCH_NAME = 0x8183;
const NO_ERROR = 0x8180;

/** A name server that speaks just enough of the protocol: one question, answers of its type. */
async function openNameServer(answers: Answers): Promise<{ names: dns.Resolver; questions: string[] }> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = message[at] as number; length > 0; length = message[at] as number) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = message.readUInt16BE(at + 1) === TYPES.A ? 'A' : 'AAAA';
    const name = labels.join('.').toLowerCase();
    questions.push(`${type} ${name}`);
    const found = answers(name, type);
    if (found === 'silent') return;
    const records = found === 'unknown' ? [] : found;
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(found === 'unknown' ? NO_SUCH_NAME : NO_ERROR, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const body = records.map((data) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(TYPES[type], 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(300, 6);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([head, message.subarray(12, at + 5), ...body]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  const names = new dns.Resolver({ timeout: 100, tries: 1 });
  names.setServers([`127.0.0.1:${socket.address().port}`]);
  return { names, questions };
}

const v4 = (...bytes: number[]): Buffer => Buffer.from(bytes);
const v6 = (hex: string): Buffer => Buffer.from(hex.padEnd(32, '0'), 'hex');

function resolver(options: Partial<ResolverOptions>): Resolve {
  return createResolver({
    asksSystem: false,
    readHosts: async () => '',
    system: () => Promise.reject(new Error('the system was asked')),
    ...options,
  });
}

const failure = async (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'resolved',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );

describe('a name server', () => {
  test('is asked for both families at once; its addresses come with those of IPv4 first', async () => {
    const { names } = await openNameServer((_name, type) =>
      type === 'A' ? [v4(93, 184, 215, 14), v4(93, 184, 215, 15)] : [v6('20010db8')],
    );
    expect(await resolver({ openNames: () => names })('receiver.example')).toEqual([
      { address: '93.184.215.14', family: 4 },
      { address: '93.184.215.15', family: 4 },
      { address: '2001:db8::', family: 6 },
    ]);
  });

  test('that has one family only, or is silent about the other, is enough', async () => {
    const { names } = await openNameServer((name, type) => {
      if (name === 'v6.example') return type === 'A' ? [] : [v6('2606')];
      return type === 'A' ? [v4(1, 1, 1, 1)] : 'silent';
    });
    expect(await resolver({ openNames: () => names })('v6.example')).toEqual([{ address: '2606::', family: 6 }]);
    expect(await resolver({ openNames: () => names })('half.example')).toEqual([{ address: '1.1.1.1', family: 4 }]);
  });

  test('is asked without a final dot and in lower case, and once for all who ask at the same time', async () => {
    const { names, questions } = await openNameServer((_name, type) => (type === 'A' ? [v4(1, 1, 1, 1)] : []));
    const resolve = resolver({ openNames: () => names });
    await Promise.all([resolve('Receiver.Example.'), resolve('receiver.example'), resolve('receiver.example')]);
    expect(questions.toSorted()).toEqual(['A receiver.example', 'AAAA receiver.example']);
    // Nothing is kept: the next connection asks anew, or a change would not be seen.
    await resolve('receiver.example');
    expect(questions).toHaveLength(4);
  });

  test('says that there is no such name, that it has no address, or nothing at all: each is told apart', async () => {
    const { names } = await openNameServer((name) => (name === 'silent.example' ? 'silent' : name === 'empty.example' ? [] : 'unknown'));
    const resolve = resolver({ openNames: () => names });
    expect(await failure(resolve('gone.example'))).toBe('ENOTFOUND');
    expect(await failure(resolve('empty.example'))).toBe('ENODATA');
    expect(await failure(resolve('silent.example'))).toBe('ETIMEOUT');
  });

  test('is looked for anew after a minute, so that a machine that changes its network finds the new one', async () => {
    const [before, after] = [
      await openNameServer((_name, type) => (type === 'A' ? [v4(1, 1, 1, 1)] : [])),
      await openNameServer((_name, type) => (type === 'A' ? [v4(2, 2, 2, 2)] : [])),
    ];
    const servers = [before.names, after.names];
    let now = 0;
    const resolve = resolver({ openNames: () => servers.shift() as dns.Resolver, now: () => now });
    expect(await resolve('receiver.example')).toMatchObject([{ address: '1.1.1.1' }]);
    now = 59_999;
    expect(await resolve('receiver.example')).toMatchObject([{ address: '1.1.1.1' }]);
    now = 60_000;
    expect(await resolve('receiver.example')).toMatchObject([{ address: '2.2.2.2' }]);
  });

  test('that is silent about a hundred names holds up neither another name nor a file', async () => {
    const { names } = await openNameServer((name, type) => (name === 'good.example' ? (type === 'A' ? [v4(1, 1, 1, 1)] : []) : 'silent'));
    const resolve = resolver({ openNames: () => names });
    const silent = Array.from({ length: 100 }, (_, i) => failure(resolve(`silent-${i}.example`)));
    const first = await Promise.race([
      Promise.all([resolve('good.example'), readFile(import.meta.filename)]).then(() => 'the good one'),
      Promise.race(silent),
    ]);
    expect(first).toBe('the good one');
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['ETIMEOUT']));
  });
});

describe('the hosts file', () => {
  const text = '# ours\n127.0.0.1 localhost\n10.0.0.7\tReceiver.Internal receiver # beside us\n::1 receiver\nnonsense receiver\n\n';

  test('goes before any name server, in any case, with several addresses to a name', async () => {
    const resolve = resolver({ readHosts: async () => text, openNames: () => failing('asked') });
    expect(await resolve('receiver')).toEqual([
      { address: '10.0.0.7', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(await resolve('RECEIVER.internal.')).toEqual([{ address: '10.0.0.7', family: 4 }]);
    expect(parseHosts(text).get('nonsense')).toBeUndefined();
  });

  test('is read again when it has become old, and its absence is no fault', async () => {
    let [now, content] = [0, text];
    const resolve = resolver({ readHosts: async () => content, openNames: () => failing('ENOTFOUND'), now: () => now });
    expect(await resolve('receiver')).toHaveLength(2);
    content = '10.0.0.8 receiver';
    expect(await resolve('receiver')).toHaveLength(2);
    now = 5_000;
    expect(await resolve('receiver')).toEqual([{ address: '10.0.0.8', family: 4 }]);
    const without = resolver({ readHosts: () => Promise.reject(new Error('no such file')), openNames: () => failing('ENOTFOUND') });
    expect(await failure(without('receiver'))).toBe('ENOTFOUND');
  });

  test('of this machine is read, and localhost is loopback with or without it', async () => {
    const system = () => Promise.reject(new Error('the system was asked'));
    const own = createResolver({ asksSystem: false, openNames: () => failing('asked'), system });
    for (const resolve of [own, resolver({ openNames: () => failing('asked') })]) {
      const addresses = (await resolve('localhost')).map(({ address }) => address);
      expect(addresses.length).toBeGreaterThan(0);
      for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address);
    }
    expect(await resolver({ openNames: () => failing('asked') })('app.localhost')).toHaveLength(2);
  });
});

const failing = (code: string) => {
  const refuse = () => Promise.reject(Object.assign(new Error(code), { code }));
  return { resolve4: refuse, resolve6: refuse } as unknown as ReturnType<NonNullable<ResolverOptions['openNames']>>;
};

describe('the operating system', () => {
  const known: LookupAddress[] = [{ address: '10.0.0.9', family: 4 }];

  test('is asked about names that no name server knows where receivers stand beside the server, and not where they do not', async () => {
    const options = { openNames: () => failing('ENOTFOUND'), system: async () => known };
    expect(await resolver({ ...options, asksSystem: true })('receiver')).toEqual(known);
    expect(await failure(resolver({ ...options, asksSystem: false })('receiver'))).toBe('ENOTFOUND');
  });

  test('is asked where no name server can be reached, and never after one that was slow', async () => {
    const system = async () => known;
    expect(await resolver({ openNames: () => failing('ECONNREFUSED'), system })('receiver.example')).toEqual(known);
    expect(await failure(resolver({ openNames: () => failing('ETIMEOUT'), system, asksSystem: true })('receiver.example'))).toBe(
      'ETIMEOUT',
    );
    expect(await failure(resolver({ openNames: () => failing('ESERVFAIL'), system, asksSystem: true })('receiver.example'))).toBe(
      'ESERVFAIL',
    );
  });

  test('is asked about one name at a time, since each question holds a thread, and beyond a bound not at all', async () => {
    let [underWay, most] = [0, 0];
    const releases: (() => void)[] = [];
    const system = async (): Promise<LookupAddress[]> => {
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => releases.push(resolve));
      underWay -= 1;
      return known;
    };
    const resolve = resolver({ openNames: () => failing('ENOTFOUND'), system, asksSystem: true });
    const asked = Array.from({ length: 40 }, (_, i) => failure(resolve(`name-${i}`)));
    let settled = 0;
    for (const answer of asked) void answer.then(() => settled++);
    // Turned away at once: eight of them, while the first still waits.
    while (settled < 8) await new Promise((next) => setImmediate(next));
    const outcomes: string[] = [];
    for (let i = 0; i < 32; i++) {
      while (releases.length === 0) await new Promise((next) => setImmediate(next));
      releases.shift()?.();
    }
    outcomes.push(...(await Promise.all(asked)));
    expect(outcomes.filter((outcome) => outcome === 'resolved')).toHaveLength(32);
    expect(outcomes.filter((outcome) => outcome === 'EAI_AGAIN')).toHaveLength(8);
    expect(most).toBe(1);
  });
});
