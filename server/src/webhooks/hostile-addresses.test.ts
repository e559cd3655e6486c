// The table of places that webhooks must not reach, and of as many that they must: each is asked for at creation and at connect.
// Opens no connection but to a receiver of its own, which plays all of the internet.

import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, isIP, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webAddress } from '../schemas/text.ts';
import type { DialTarget } from './connect.ts';
import { refuseReceiver } from './receiver-url.ts';
import { createSafeFetch, type SafeFetch, type SendResult } from './safe-fetch.ts';

/** Literal addresses, in every notation that a URL allows. Each must be refused when the endpoint is made and when it is connected to. */
const hostileUrls = [
  // Loopback.
  'http://127.0.0.1/',
  'https://127.0.0.1:8443/',
  'http://127.255.255.254/',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.0.0.1./',
  'http://2130706433/',
  'http://2130706433./',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://0177.0.0.01/',
  'http://0x7f000001/',
  'http://0x7F.1/',
  'http://0x7f.0x0.0x0.0x1/',
  'http://0x7f.0.1/',
  'http://127.0x1/',
  'http://127.00000000001/',
  'http://0300.0250.0.1/',
  'http://%31%32%37.0.0.1/',
  'http://127%2e0%2e0%2e1/',
  'http://①②⑦.⓪.⓪.①/',
  'http://１２７.０.０.１/',
  'http://127。0。0。1/',
  'http://127．0．0．1/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[0000:0000:0000:0000:0000:0000:0000:0001]/',
  'http://[::0.0.0.1]/',
  // This host, and nowhere.
  'http://0.0.0.0/',
  'http://0/',
  'http://0x0/',
  'http://00000/',
  'http://0.1.2.3/',
  'http://[::]/',
  // Private.
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://10.1/',
  'http://167772161/',
  'http://0x0a000001/',
  'http://012.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://0xac.0x10.1/',
  'http://192.168.0.1/',
  'http://192.168.255.255/',
  'http://3232235521/',
  'http://0xc0a80001/',
  'http://0xc0.0xa8.0x0.0x1/',
  'http://030052000001/',
  'http://192.168.1/',
  // Link-local and metadata services.
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.170.2/v2/credentials',
  'http://169.254.0.23/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://0251.254.169.254/',
  'http://169.254.43518/',
  'http://169.16689662/',
  'http://169.254.169.254./',
  'http://100.100.100.200/latest/meta-data/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://[fd20:ce::254]/computeMetadata/v1/',
  'http://[fe80::1]/',
  'http://[febf:ffff::1]/',
  'http://[fec0::1]/',
  // Carrier-grade NAT.
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://1681915905/',
  // Multicast, broadcast, reserved, documentation, benchmarking, protocol assignments.
  'http://224.0.0.1/',
  'http://239.255.255.250:1900/',
  'http://255.255.255.255/',
  'http://4294967295/',
  'http://0xffffffff/',
  'http://240.0.0.1/',
  'http://254.254.254.254/',
  'http://192.0.2.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://198.18.0.1/',
  'http://198.19.255.255/',
  'http://192.0.0.8/',
  'http://192.88.99.1/',
  'http://[ff02::1]/',
  'http://[ff0e::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[2001:2::1]/',
  'http://[2001:10::1]/',
  'http://[2001:20::1]/',
  'http://[100::1]/',
  'http://[5f00::1]/',
  'http://[4000::1]/',
  'http://[e000::1]/',
  // Unique local.
  'http://[fc00::1]/',
  'http://[fd12:3456:789a::1]/',
  'http://[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]/',
  // IPv4 in IPv6: mapped, translated, compatible, NAT64, 6to4, Teredo.
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:169.254.169.254]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[::169.254.169.254]/',
  'http://[::a00:1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b::8.8.8.8]/',
  'http://[64:ff9b:1::a00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[2002:c0a8:101::1]/',
  'http://[2001::1]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
];

/** Refused by their text, before anything is asked of the network: no web address, or one that hides where it leads. */
const malformedUrls = [
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com:70/_GET',
  'data:text/plain,x',
  'javascript:alert(1)',
  'ws://example.com/',
  'unix:///var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
  '//example.com/',
  'example.com/hook',
  'http:/example.com/',
  'http:example.com/',
  'http:///example.com/',
  'http://',
  'http://user@example.com/',
  'http://user:password@example.com/',
  'http://example.com@127.0.0.1/',
  'http://127.0.0.1@example.com/',
  'http://127.0.0.1%00@example.com/',
  'http://:@example.com/',
  'http://example.com\\@127.0.0.1/',
  'http:\\\\127.0.0.1\\',
  'http://127.0.0.1 /',
  ' http://127.0.0.1/',
  'http://127.0.0.1\t/',
  'http://exa\nmple.com/',
  'http://example.com\r\nHost: internal/',
  'http://example.com/\0',
  'http://[::1/',
  'http://::1/',
  'http://[fe80::1%25eth0]/',
  'http://[fe80::1%eth0]/',
  'http://[::ffff:127.0.0.1.1]/',
  'http://256.256.256.256/',
  'http://1.2.3.4.5/',
  'http://127.0.0.0x100/',
  'http://0x100000000/',
  'http://4294967296/',
  'http://08.0.0.1/',
  'http://example.com:65536/',
  'http://example.com:-1/',
  'http://example.com:http/',
  'http://exa%20mple.com/',
  'http://exa<mple.com/',
  'http://a^b.example/',
  'http://xn--a/',
];

/** Names of no public place. They are refused at creation; at connect, by the addresses that they resolve to. */
const localNames = [
  'http://localhost/',
  'http://localhost:5432/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://receiver.localhost/',
  'http://ip6-localhost/',
  'http://intranet/',
  'http://redis:6379/',
  'http://db.local/',
  'http://printer.lan/',
  'http://router.home/',
  'http://nas.home.arpa/',
  'http://jenkins.corp/',
  'http://wiki.intranet/',
  'http://vault.private/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://metadata.goog/',
  'http://instance-data.ec2.internal/',
  'http://ip-10-0-0-1.eu-west-1.compute.internal/',
  'http://kubernetes.default.svc.cluster.local/',
  'http://api.default.svc.cluster.local./',
  'http://server.localdomain/',
  'http://hidden.onion/',
  'http://something.invalid/',
  'http://something.test/',
  'http://ｌｏｃａｌｈｏｓｔ/',
  'http://loc%61lhost/',
  'http://example.com:0/',
];

/** Names that look public and are registered as such, with what a hostile name server says of them. */
const hostileAnswers: readonly (readonly [why: string, addresses: readonly string[]])[] = [
  ['loopback', ['127.0.0.1']],
  ['loopback on IPv6', ['::1']],
  ['this host', ['0.0.0.0']],
  ['this host on IPv6', ['::']],
  ['a private address', ['10.0.0.1']],
  ['a container network', ['172.17.0.1']],
  ['a home router', ['192.168.1.1']],
  ['the metadata service', ['169.254.169.254']],
  ['the metadata service, mapped', ['::ffff:169.254.169.254']],
  ['the metadata service, through NAT64', ['64:ff9b::a9fe:a9fe']],
  ['the metadata service, through 6to4', ['2002:a9fe:a9fe::']],
  ['carrier-grade NAT', ['100.64.1.1']],
  ['unique local', ['fd00::1']],
  ['link-local', ['fe80::1']],
  ['link-local with a zone', ['fe80::1%lo']],
  ['multicast', ['239.1.1.1']],
  ['a public address first, a private one second', ['93.184.215.14', '10.0.0.1']],
  ['a private address first, a public one second', ['10.0.0.1', '93.184.215.14']],
  ['a public address and loopback on IPv6', ['93.184.215.14', '::1']],
  ['many public addresses and one private', ['1.1.1.1', '8.8.8.8', '9.9.9.9', '192.168.0.10']],
  ['no address but a word', ['localhost']],
  ['an address in decimal', ['2130706433']],
  ['a short address', ['127.1']],
  ['a network', ['10.0.0.0/8']],
];

const publicAddresses = [
  '1.0.0.1',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.215.14',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '185.199.108.153',
  '192.0.1.1',
  '192.0.3.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.98.255',
  '192.88.100.1',
  '192.167.255.255',
  '192.169.0.1',
  '192.175.48.1',
  '198.17.255.255',
  '198.20.0.1',
  '198.51.99.255',
  '198.51.101.1',
  '203.0.112.255',
  '203.0.114.1',
  '223.255.255.254',
  '[2000::1]',
  '[2001:200::1]',
  '[2001:4860:4860::8888]',
  '[2001:4860:4860:0:0:0:0:8844]',
  '[2001:470::1]',
  '[2001:db7:ffff::1]',
  '[2001:db9::1]',
  '[2003::1]',
  '[2400:cb00:2048:1::6814:55]',
  '[2600:1f18::1]',
  '[2606:4700:4700::1111]',
  '[2620:4f:8000::1]',
  '[2620:fe::fe]',
  '[2800:3f0::1]',
  '[2A00:1450:4001:0:0:0:0:200E]',
  '[2c0f:fb50::1]',
  '[3ffe::1]',
  '[3fff:1000::1]',
];

const publicNames = [
  'example.com',
  'EXAMPLE.com',
  'example.com.',
  'www.example.co.uk',
  'hooks.example.org',
  'a.b.c.d.e.example.net',
  'my-receiver.example.com',
  'under_score.example.com',
  'xn--bcher-kva.example',
  'bücher.example',
  '例え.jp',
  'exa%6Dple.com',
  '123.example.com',
  '127.0.0.1.nip.example',
  '127-0-0-1.example.com',
  '10.example.com',
  'localhost.example.com',
  'local.example.com',
  'internal.example.com',
  'notlocalhost.com',
  'mylocal.dev',
  'internal.dev',
  'corp.com',
  'home.com',
  'lan.com',
  'test.com',
  'metadata.google.com',
  'onion.org',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.com',
  '0x7f.example.com',
];

const pathsAndPorts = [
  'https://example.com/',
  'https://example.com',
  'http://example.com:80/',
  'http://example.com:8080/',
  'https://example.com:443/',
  'https://example.com:8443/',
  'https://example.com:65535/',
  'http://example.com:1/',
  'HTTPS://example.com/',
  'hTTp://example.com/',
  'https://example.com/a/b/c?d=e&f=g',
  'https://example.com/?url=http://127.0.0.1/',
  'https://example.com/http://169.254.169.254/',
  'https://example.com/@localhost',
  'https://example.com/user:password@host',
  'https://example.com/..%2f..%2fetc/passwd',
  'https://example.com/../../hook',
  'https://example.com/#fragment',
  'https://example.com/#@127.0.0.1/',
  'https://example.com/?@127.0.0.1/',
  'https://example.com/größe',
  'https://example.com/%E2%9C%93',
  'https://example.com/;a=b',
  'https://example.com/~user/',
  'https://example.com/[::1]',
  'https://example.com/hook?token=0x7f000001',
  'https://example.com//double//slash',
  'https://example.com/hook.php?localhost',
  'https://example.com/%00',
  'https://example.com/a+b',
  'https://example.com/?a[]=1&b={c}',
  "https://example.com/it's",
  'https://example.com/(x)',
  'https://example.com/a|b',
  'https://example.com/?q=%3Cscript%3E',
];

const goodUrls = [
  ...publicAddresses.map((address) => `http://${address}/hook`),
  // Addresses in other notations are as good as what they stand for.
  'http://134744072/',
  'http://0x08080808/',
  'http://010.010.010.010/',
  'http://8.8.2056/',
  'http://1.1/',
  'http://８.８.８.８/',
  'http://8.8.8.8./',
  ...publicNames.map((name) => `https://${name}/hook`),
  ...pathsAndPorts,
];

const goodAnswers: readonly (readonly string[])[] = [
  ['93.184.215.14'],
  ['2606:4700:4700::1111'],
  ['93.184.215.14', '2606:4700:4700::1111'],
  ['1.1.1.1', '8.8.8.8', '9.9.9.9', '208.67.222.222'],
];

let internet: Server;
let port: number;
/** The addresses that connections were pinned to since the last look. */
let dialled: string[] = [];
let answer: readonly string[] = [];
let made: SafeFetch;

const toLookup = (addresses: readonly string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: isIP(address.replace(/%.*/, '')) || 4 }));

/** Plays the network: writes down where a connection is pinned to, and opens it to the receiver of this file. */
function dial({ host, lookup }: DialTarget): Socket {
  if (isIP(host) !== 0) {
    dialled.push(host);
    return connect(port, '127.0.0.1');
  }
  return connect({
    host,
    port,
    lookup: (name, options, callback) =>
      lookup(name, options, (error, addresses, family) => {
        if (error !== null) return callback(error, addresses, family);
        dialled.push(...(addresses as LookupAddress[]).map(({ address }) => address));
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      }),
  });
}

beforeAll(async () => {
  internet = createServer((_request, response) => void response.writeHead(200, { connection: 'close' }).end());
  internet.listen(0, '127.0.0.1');
  await once(internet, 'listening');
  port = (internet.address() as AddressInfo).port;
  made = createSafeFetch({ policy: 'public', timeoutMs: 5_000, dial, resolve: async () => toLookup(answer) });
});
afterAll(async () => {
  await made.close();
  internet.close();
});

async function post(url: string, resolvesTo: readonly string[]): Promise<{ result: SendResult; dialled: readonly string[] }> {
  dialled = [];
  answer = resolvesTo;
  return { result: await made.send({ url, headers: {}, body: '{}' }), dialled };
}

const isWelcome = (url: string): boolean => webAddress.safeParse(url).success && refuseReceiver(url, 'public') === null;
const plain = (url: string): string => url.replace(/^https/i, 'http');

describe('hostile', () => {
  test('there are at least 120 hostile URLs and answers, and as many good ones, no two alike', () => {
    const hostile = [...hostileUrls, ...malformedUrls, ...localNames, ...hostileAnswers.map(([why]) => why)];
    const good = [...goodUrls, ...goodAnswers.map(String)];
    for (const list of [hostile, good]) {
      expect(new Set(list).size).toBe(list.length);
      expect(list.length).toBeGreaterThanOrEqual(120);
    }
    // Literal addresses alone are as many.
    expect(hostileUrls.length).toBeGreaterThanOrEqual(100);
  });

  test.each(hostileUrls)('%j is refused at creation and at connect (I-20)', async (url) => {
    expect(webAddress.safeParse(url).success).toBe(true);
    expect(refuseReceiver(url, 'public')).toMatch(/^Must lead to a public address of the internet; .+ is not one \(.+\)\.$/);
    const { result, dialled: pinned } = await post(url, ['93.184.215.14']);
    expect(result).toMatchObject({ kind: 'failed', error: 'blocked_address', remoteAddress: null });
    expect(pinned).toEqual([]);
  });

  test.each(malformedUrls)('%j is refused at creation, and leads nowhere inside at connect', async (url) => {
    expect(isWelcome(url)).toBe(false);
    const { result, dialled: pinned } = await post(url, ['10.0.0.1']);
    expect(result.kind).toBe('failed');
    expect(pinned).toEqual([]);
  });

  test.each(localNames)('%j is refused at creation, and at connect by where it leads', async (url) => {
    expect(isWelcome(url)).toBe(false);
    const { result, dialled: pinned } = await post(url, ['192.168.0.7']);
    expect(result).toMatchObject({ kind: 'failed', error: 'blocked_address' });
    expect(pinned).toEqual([]);
  });

  test.each(hostileAnswers)('a public name that resolves to %s is refused at connect (I-20)', async (_why, addresses) => {
    for (const url of ['http://receiver.example.com/', 'https://receiver.example.com/']) {
      expect(isWelcome(url)).toBe(true);
      const { result, dialled: pinned } = await post(url, addresses);
      expect(result).toMatchObject({ kind: 'failed', error: 'blocked_address', remoteAddress: null });
      expect(pinned).toEqual([]);
    }
  });

  test.each(
    hostileUrls.filter((url) => /169\.254|100\.100\.100\.200|168\.63|fd00:ec2|fd20:ce|a9fe|ff02|fe80|::ffff:/.test(url)),
  )('%j is refused even where private networks are allowed', (url) => {
    expect(refuseReceiver(url, 'any')).not.toBeNull();
  });
});

describe('good', () => {
  test.each(goodUrls)('%j is let through at creation and at connect', async (url) => {
    expect(webAddress.safeParse(url).success).toBe(true);
    expect(refuseReceiver(url, 'public')).toBeNull();
    const { result, dialled: pinned } = await post(plain(url), ['93.184.215.14']);
    expect(result).toMatchObject({ kind: 'answered', statusCode: 200 });
    expect(pinned).toHaveLength(1);
  });

  test.each(goodAnswers.map((addresses) => [addresses] as const))('a name that resolves to %j is connected to there', async (addresses) => {
    const { result, dialled: pinned } = await post('http://receiver.example.com/', addresses);
    expect(result).toMatchObject({ kind: 'answered', statusCode: 200 });
    expect(pinned).toEqual(addresses);
  });

  test('names and addresses of the own network are let through where they are allowed', () => {
    for (const url of [
      'http://localhost:3000/',
      'http://10.0.0.5/',
      'http://[::1]/',
      'http://receiver/',
      'http://hooks.svc.cluster.local/',
    ])
      expect(refuseReceiver(url, 'any')).toBeNull();
  });
});
