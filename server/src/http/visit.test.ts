// Where a request comes from, behind no proxy and behind some, and the links that lead back.

import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createVisits } from './visit.ts';

const request = (headers: Record<string, string | string[]>, remoteAddress = '192.0.2.9') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;
const addressOf = (trustedProxies: number, forwarded: string | string[] | undefined): string | null =>
  createVisits({ trustedProxies, publicUrl: null }).originOf(request(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded })).ip;

test.each<[string, number, string | string[] | undefined, string]>([
  ['what a client says is not believed without a proxy', 0, '198.51.100.1', '192.0.2.9'],
  ['one proxy says whom it saw, last', 1, '198.51.100.1, 203.0.113.5', '203.0.113.5'],
  ['the outer of two proxies says whom it saw', 2, '198.51.100.1, 203.0.113.5, 10.0.0.2', '203.0.113.5'],
  ['fewer hops than trusted proxies', 2, '203.0.113.5', '192.0.2.9'],
  ['a header that is none', 1, 'unknown, <script>', '192.0.2.9'],
  ['a hop that is no address does not lend its place to what the client wrote', 1, '198.51.100.1, unknown', '192.0.2.9'],
  ['hops that are none count all the same', 2, '198.51.100.1, 203.0.113.5, unknown', '203.0.113.5'],
  ['an empty hop counts all the same', 1, '198.51.100.1,', '192.0.2.9'],
  ['an address with a port', 1, '203.0.113.5:51234', '203.0.113.5'],
  ['an address of IPv6 in brackets', 1, '[2001:db8::7]', '2001:db8::7'],
  ['an address of IPv6 in brackets with a port', 1, '[2001:db8::7]:443', '2001:db8::7'],
  ['an address of IPv6', 1, '198.51.100.1, 2001:db8::7', '2001:db8::7'],
  ['digits and dots that are no address', 1, '198.51.100.1, 999.1.1.1', '192.0.2.9'],
  ['several lines of the header', 2, ['198.51.100.1', '203.0.113.5, 10.0.0.2'], '203.0.113.5'],
  ['no header', 1, undefined, '192.0.2.9'],
])('%s', (_what, proxies, forwarded, wanted) => {
  expect(addressOf(proxies, forwarded)).toBe(wanted);
});

test('the name of a browser is bounded and plain', () => {
  const { originOf } = createVisits({ trustedProxies: 0, publicUrl: null });
  expect(originOf(request({ 'user-agent': `é\t${'x'.repeat(1000)}` })).userAgent).toBe(`??${'x'.repeat(298)}`);
  expect(originOf(request({})).userAgent).toBeNull();
});

test('links lead to the configured address, or to where the request reached us', () => {
  const open = createVisits({ trustedProxies: 0, publicUrl: null });
  expect(open.linkTo('/a#t', request({ host: 'h.test:1' }))).toBe('http://h.test:1/a#t');
  expect(open.linkTo('/a', request({ host: 'h.test', 'x-forwarded-proto': 'https' }))).toBe('https://h.test/a');
  const configured = createVisits({ trustedProxies: 0, publicUrl: 'https://t.test' });
  expect(configured.linkTo('/a', request({ host: 'evil.test' }))).toBe('https://t.test/a');
  expect(configured.visitOf(request({})).secure).toBe(true);
});
