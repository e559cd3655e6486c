// What a session can still do once it has ended elsewhere, while this process believes in it for less than a second more: nothing that stays.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestApp, type TestApp } from './support/app.ts';
import { type Browser, ORIGIN, signUpMember, signUpOwner, tokenOf } from './support/people.ts';

let app: TestApp;
let owner: Browser;
beforeEach(async () => {
  app = await openTestApp();
  owner = await signUpOwner(app);
});
afterEach(() => app.stop());

const endings = {
  revoked: 'delete from identity_sessions',
  idle: "update identity_sessions set last_used_at = now() - interval '8 days'",
} as const;

/** Ends every session of the server, past this process, which has just looked one up. */
async function endElsewhere(browser: Browser, how: keyof typeof endings = 'revoked'): Promise<void> {
  await browser.ok('GET', '/v1/account');
  await app.database.query(endings[how]);
}

test('gives nobody another name (I-35)', async () => {
  await endElsewhere(owner);
  expect((await owner.call('PATCH', '/v1/account', { body: { name: 'Mallory' } })).body.code).toBe('not_signed_in');
  expect(await app.database.query('select name from identity_users')).toEqual([{ name: 'Olivia Owner' }]);
});

test('makes no workspace (I-35)', async () => {
  await endElsewhere(owner);
  expect((await owner.call('POST', '/v1/workspaces', { body: { name: 'Second' } })).body.code).toBe('not_signed_in');
  expect(await app.database.query('select 1 from workspaces')).toHaveLength(1);
});

test.each(Object.keys(endings) as (keyof typeof endings)[])('accepts no invitation, where it was %s (I-35)', async (how) => {
  const viewer = await signUpMember(app, owner, 'viewer');
  owner.workspace = (await owner.ok('POST', '/v1/workspaces', { body: { name: 'Second' } })).id;
  const { link } = await owner.ok('POST', '/v1/invitations', { body: { email: 'viewer@example.com', role: 'admin' } });
  await endElsewhere(viewer, how);
  const accepted = await viewer.call('POST', '/v1/invitations/accept', { body: { token: tokenOf(link) } });
  expect(accepted.body.code).toBe('not_signed_in');
  expect(await app.database.query('select 1 from members')).toHaveLength(3);
});

test('somebody who left comes back by accepting with a session that holds', async () => {
  const viewer = await signUpMember(app, owner, 'viewer');
  const [member] = (await owner.ok('GET', '/v1/members')).data.filter(({ role }: { role: string }) => role === 'viewer');
  await owner.ok('DELETE', `/v1/members/${member.id}`);
  const { link } = await owner.ok('POST', '/v1/invitations', { body: { email: 'viewer@example.com', role: 'admin' } });
  const account = await viewer.ok('POST', '/v1/invitations/accept', { body: { token: tokenOf(link) } });
  expect(account.workspaces).toMatchObject([{ role: 'admin' }]);
});

test.each(Object.keys(endings) as (keyof typeof endings)[])('reads no stream of events on, where it was %s (I-35)', async (how) => {
  const url = await app.service.app.listen({ host: '127.0.0.1', port: 0 });
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${url}/v1/events/stream`, {
    headers: { cookie, 'sec-fetch-site': 'none', origin: ORIGIN.replace('localhost:80', new URL(url).host) },
  });
  expect(response.status).toBe(200);
  await app.database.query(endings[how]);
  expect(await response.text()).toContain('the end: the key does not hold any more');
});
