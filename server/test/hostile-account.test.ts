// What strangers can send to the routes of accounts, over real sockets: broken cookies, headers twice, bytes that are no text, bodies made to
// harm. None is answered with a failure of the server, whoever sends it.

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from './support/app.ts';
import { type Browser, openBrowser, PASSWORD, signUpOwner, totp, turnOnTotp } from './support/people.ts';

const EMAIL = 'owner@example.com';

let app: TestApp;
let owner: Browser;
let port: number;
let host: string;
beforeAll(async () => {
  app = await openTestApp({ environment: { TRUSTED_PROXIES: '1' } });
  owner = await signUpOwner(app);
  await turnOnTotp(owner);
  port = Number(new URL(await app.service.app.listen({ host: '127.0.0.1', port: 0 })).port);
  host = `127.0.0.1:${port}`;
});
afterAll(async () => {
  expect(await app.faults()).toEqual([]);
  await app.stop();
});

/** One request as these bytes; the status of the answer. */
async function send(method: string, path: string, headers: readonly string[], body: string | null): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const content = Buffer.from(body ?? '');
  const own = body === null ? [] : ['content-type: application/json', `content-length: ${content.length}`];
  const head = [`${method} ${path} HTTP/1.1`, `host: ${host}`, 'connection: close', ...own, ...headers, '', ''].join('\r\n');
  // As a stranger may send it: each character of the head is one byte.
  socket.write(Buffer.concat([Buffer.from(head, 'latin1'), content]));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close').catch(() => undefined);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
}

// biome-ignore format: a table reads better in lines of one kind.
const operations: readonly [string, string, Record<string, unknown> | null][] = [
  ['POST', '/v1/account/sign_up', { email: 'ada@example.com', password: PASSWORD, name: 'Ada', invitation_token: 'inv_x' }],
  ['POST', '/v1/account/sign_up', { email: 'ada@example.com', password: PASSWORD, name: 'Ada', setup_token: 'setup_x' }],
  ['POST', '/v1/account/sign_in', { email: EMAIL, password: PASSWORD }],
  ['POST', '/v1/account/sign_in/totp', { code: '123456' }],
  ['POST', '/v1/account/sign_in/totp', { code: 'abcde-fghij' }],
  ['POST', '/v1/account/password', { current_password: 'is not the password', new_password: 'another staple of mine' }],
  ['POST', '/v1/account/totp', { password: 'is not the password' }],
  ['POST', '/v1/account/totp/verify', { code: '123456' }],
  ['POST', '/v1/account/totp/disable', { password: 'is not the password' }],
  ['PATCH', '/v1/account', { name: 'Olivia' }],
  ['GET', '/v1/account', null],
  ['GET', '/v1/account/sessions', null],
  ['DELETE', '/v1/account/sessions/ses_00000000000000000000000000', null],
  ['POST', '/v1/invitations/lookup', { token: 'inv_x' }],
  ['POST', '/v1/invitations/accept', { token: 'inv_x' }],
  ['POST', '/v1/workspaces', { name: 'Second' }],
  ['POST', '/v1/account/sign_out', null],
];

/** A browser that is signed in, and another that is asked for its code: the cookies of both. */
async function cookies(): Promise<{ session: string; challenge: string }> {
  const asked = openBrowser(app);
  await asked.ok('POST', '/v1/account/sign_in', { body: { email: EMAIL, password: PASSWORD } });
  return { session: owner.cookies.get('tranche_session') as string, challenge: asked.cookies.get('tranche_challenge') as string };
}

const forgetLimits = () => app.database.query('delete from sign_in_attempts');
const FROM_HERE = () => [`origin: http://${host}`, 'sec-fetch-site: same-origin'];
const bytes = 'a\u00ff\u0080\u00c3(';

const heads: readonly [string, (cookie: { session: string; challenge: string }) => string[]][] = [
  ['a signature cut short', ({ session, challenge }) => [cookieOf(session.slice(0, -9), challenge.slice(0, -9))]],
  [
    'a signature that is none',
    ({ session, challenge }) => [cookieOf(`${plain(session)}.${'A'.repeat(43)}%3D`, `${plain(challenge)}.${'!'.repeat(43)}=`)],
  ],
  ['no signature', ({ session, challenge }) => [cookieOf(plain(session), plain(challenge))]],
  ['percent signs alone', () => [cookieOf('%', '%')]],
  ['percent signs within', ({ session, challenge }) => [cookieOf(`${plain(session)}.%zz%c3%28`, `${plain(challenge)}%c3%28.%`)]],
  ['bytes that are no UTF-8', ({ session, challenge }) => [cookieOf(`${session}${bytes}`, `${challenge}${bytes}`)]],
  ['bytes alone', () => [cookieOf(bytes, bytes)]],
  ['NUL, encoded', () => [cookieOf('%00%00', '2fa-%00.%00')]],
  ['tabs and quotes', ({ session, challenge }) => [cookieOf(`"${session}"\t`, `\t"${challenge}"`)]],
  ['nothing', () => [cookieOf('', '')]],
  ['a cookie of 12 KiB', () => [cookieOf('x'.repeat(6000), 'y'.repeat(6000))]],
  ['the counter of a sign-in', ({ session, challenge }) => [cookieOf(session, `2fa-attempts-${challenge}`)]],
  ['names of JavaScript', () => ['cookie: __proto__=1; constructor=2; tranche_session=__proto__; tranche_challenge=constructor']],
  ['cookies twice', ({ session, challenge }) => [cookieOf('a', 'b'), cookieOf(session, challenge), cookieOf(session, challenge)]],
  ['a browser with a long name of bytes', (held) => [both(held), `user-agent: ${bytes.repeat(1500)}`]],
  ['two browsers', (held) => [both(held), 'user-agent: one', `user-agent: ${bytes}`]],
  ['hops that are none', (held) => [both(held), `x-forwarded-for: ${bytes}, unknown, [::`, 'x-forwarded-for: ]:1,,%00']],
  ['a hop with a zone', (held) => [both(held), 'x-forwarded-for: fe80::1%eth0']],
  ['two workspaces', (held) => [both(held), 'tranche-workspace: wsp_x', `tranche-workspace: ${bytes}`]],
  ['two origins', (held) => [both(held), `origin: http://${host}`, 'origin: http://[']],
  ['a forwarded protocol of bytes', (held) => [both(held), `x-forwarded-proto: ${bytes}`]],
  ['two keys beside it', (held) => [both(held), 'authorization: Bearer a', `authorization: ${bytes}`]],
];

const plain = (cookie: string): string => decodeURIComponent(cookie).split('.')[0] as string;
const cookieOf = (session: string, challenge: string): string => `cookie: tranche_session=${session}; tranche_challenge=${challenge}`;
const both = ({ session, challenge }: { session: string; challenge: string }): string => cookieOf(session, challenge);

test.each(heads)('headers with %s make no route of accounts fail', async (_what, headersOf) => {
  for (const [method, path, body] of operations) {
    await forgetLimits();
    const held = await cookies();
    await forgetLimits();
    const status = await send(method, path, [...FROM_HERE(), ...headersOf(held)], body === null ? null : JSON.stringify(body));
    expect(status, `${method} ${path}`).toBeLessThan(500);
    if ((await owner.call('GET', '/v1/account')).status === 401) await signInAgain();
  }
});

/** Past the second factor, whose codes last for longer than the test. */
async function signInAgain(): Promise<void> {
  const { email, password } = await app.store.operations.resetPassword({ email: EMAIL }, () => {});
  await owner.ok('POST', '/v1/account/sign_in', { body: { email, password } });
  await owner.ok('POST', '/v1/account/password', { body: { current_password: password, new_password: PASSWORD } });
  const { secret } = await owner.ok('POST', '/v1/account/totp', { body: { password: PASSWORD } });
  await app.database.query('delete from identity_used_codes');
  await owner.ok('POST', '/v1/account/totp/verify', { body: { code: totp(secret) } });
}

// biome-ignore format: a table reads better in lines of one kind.
const values: readonly string[] = [
  '"\\u0000"', '"a\\u0000b@example.com"', '"\\ud800"', '"\\udfff\\ud800 twelve letters"', '"ada@example.com\\ud800"', '""', '" "', '"\\u2028"', '"%00%zz"',
  '"１２３４５６"', '"1 2 3 4 5 6"', `"${'9'.repeat(200)}"`, `"${'x'.repeat(100_000)}"`, '"__proto__"', '"ﬀ twelve letters İ"', '1e400', '123456', 'null', '[]', '{}', 'true',
];

describe('a body with something odd in it makes no route of accounts fail', () => {
  test.each(operations.filter(([, , body]) => body !== null))('%s %s %j', async (method, path, body) => {
    const held = await cookies();
    for (const field of Object.keys(body ?? {})) {
      for (const value of values) {
        await forgetLimits();
        const text = JSON.stringify({ ...body, [field]: '~~' }).replace('"~~"', () => value);
        const status = await send(method, path, [...FROM_HERE(), both(held)], text);
        expect(status, text.slice(0, 300)).toBeLessThan(500);
      }
    }
  });
});
