// The statements on people, sessions, members and the audit log, on both databases.

import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addWorkspace, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import { newId } from '../compose.ts';
import type { AuditEntry } from '../domain/audit.ts';
import { GENESIS_HASH } from '../domain/event.ts';
import type { Person } from '../domain/person.ts';
import { auditEntryTable, listAuditEntries } from './audit-entries.ts';
import { createIdentityRows, hashSessionToken } from './identity-rows.ts';
import { hasMembers, listMembers, loadMembersOf, loadMemberValidity, membershipsOf } from './members.ts';
import {
  addSetupToken,
  claimCode,
  countAttempts,
  deleteSetupTokens,
  discardPerson,
  findPerson,
  findPersonByEmail,
  forgetAttempts,
  hasSetupToken,
  registerPerson,
  renamePerson,
  resetPassword,
} from './people.ts';
import { deleteSession, findSessionByHash, listSessions, loadSessionValidity, pruneSessions, touchSessions } from './sessions.ts';
import { insertRows } from './tables.ts';
import { createOwnedWorkspace } from './workspaces.ts';

const MINUTE_MS = 60_000;

onEachDatabase('people', (database) => {
  const draft = (email: string) => ({ id: newId(), accountId: newId(), email, name: 'Ada', passwordHash: 'salt:hash', now: new Date() });
  const someEmail = (): string => `${randomUUID()}@example.com`;
  const addPerson = async (email = someEmail()): Promise<Person> => (await registerPerson(database(), draft(email))) as Person;
  const addOwner = async () => {
    const person = await addPerson();
    const wanted = {
      name: 'Studio',
      person,
      origin: { ip: '192.0.2.1', userAgent: 'test' },
      now: new Date(),
      newId,
      genesisHash: GENESIS_HASH,
    };
    const membership = await createOwnedWorkspace(database(), wanted);
    if (membership === null) throw new Error('no workspace was made');
    return { person, membership };
  };
  async function addSession(personId: string) {
    const token = randomBytes(24).toString('base64url');
    const at = new Date();
    const session = { id: newId(), userId: personId, token, ipAddress: '192.0.2.1', userAgent: 'test', createdAt: at, updatedAt: at };
    await createIdentityRows(database()).create('session', { ...session, expiresAt: new Date(at.getTime() + MINUTE_MS) });
    return { id: session.id, token };
  }

  test('an address belongs to one person; one who never was a member gives it over, with another password and no session', async () => {
    const email = someEmail();
    const first = await addPerson(email);
    const { token } = await addSession(first.id);
    const second = await registerPerson(database(), { ...draft(email), name: 'Grace', passwordHash: 'other' });
    expect(second).toMatchObject({ id: first.id, name: 'Grace' });
    expect(await findSessionByHash(database(), hashSessionToken(token))).toBeNull();
    const accounts = await database().query('select password_hash from identity_accounts where user_id = $1', [first.id]);
    expect(accounts).toEqual([{ password_hash: 'other' }]);
    const { person } = await addOwner();
    expect(await registerPerson(database(), draft(person.email))).toBeNull();
    const many = await Promise.all(Array.from({ length: 5 }, () => registerPerson(database(), draft(`same-${email}`))));
    expect(new Set(many.map((one) => one?.id)).size).toBe(1);
  });

  test('who belongs to nothing can be discarded, a member cannot', async () => {
    const person = await addPerson();
    await addSession(person.id);
    await discardPerson(database(), person.id);
    expect(await findPerson(database(), person.id)).toBeNull();
    const { person: owner } = await addOwner();
    await discardPerson(database(), owner.id);
    expect(await findPersonByEmail(database(), owner.email)).toMatchObject({ id: owner.id });
    await renamePerson(database(), owner.id, 'Olivia', new Date());
    expect((await findPerson(database(), owner.id))?.name).toBe('Olivia');
  });

  test('a code is claimed once, also by many at once, and again when its time is long over', async () => {
    const { id } = await addPerson();
    const code = randomBytes(32);
    const now = new Date();
    const claims = await Promise.all(Array.from({ length: 5 }, () => claimCode(database(), id, code, now, MINUTE_MS)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await claimCode(database(), id, code, new Date(now.getTime() + 2 * MINUTE_MS), MINUTE_MS)).toBe(true);
  });

  test('attempts of many at once are each counted, and forgotten with their window', async () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    const now = new Date();
    const counts = await Promise.all(Array.from({ length: 6 }, () => countAttempts(database(), [a, b], now, MINUTE_MS)));
    const ofA = counts.map((rows) => rows.find(({ bucket }) => bucket.equals(a))?.attempts).sort();
    expect(ofA).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await countAttempts(database(), [a], new Date(now.getTime() + MINUTE_MS), MINUTE_MS)).toMatchObject([{ attempts: 1 }]);
    await forgetAttempts(database(), b, now);
    expect(await countAttempts(database(), [b], now, MINUTE_MS)).toMatchObject([{ attempts: 1 }]);
  });

  test('setup tokens are known by their hash; alone, the last one counts', async () => {
    const [old, current] = [randomBytes(32), randomBytes(32)];
    await addSetupToken(database(), old, new Date(0), true);
    await addSetupToken(database(), current, new Date(), false);
    expect([await hasSetupToken(database(), old), await hasSetupToken(database(), current)]).toEqual([true, true]);
    await addSetupToken(database(), current.map((byte) => byte ^ 1) as Buffer, new Date(), true);
    expect([await hasSetupToken(database(), old), await hasSetupToken(database(), current)]).toEqual([false, false]);
    await deleteSetupTokens(database());
    expect(await database().query('select 1 from setup_tokens')).toEqual([]);
  });

  test('sessions are found by the hash of their token, with the memberships, and end', async () => {
    const { person, membership } = await addOwner();
    const { id, token } = await addSession(person.id);
    expect(await findSessionByHash(database(), hashSessionToken(token))).toEqual({ sessionId: id, person, memberships: [membership] });
    expect(await membershipsOf(database(), person.id)).toEqual([membership]);
    const named = [{ workspaceId: membership.workspaceId, id }];
    expect(await loadSessionValidity(database(), named)).toMatchObject([{ ...named[0], revokedAt: null }]);
    const asked = [{ workspaceId: membership.workspaceId, personId: person.id, sessionId: id }];
    expect(await loadMemberValidity(database(), asked)).toEqual([{ ...asked[0], role: 'owner', holds: true }]);
    const later = new Date(Date.now() + 1000);
    await touchSessions(database(), [{ keyId: id, usedAt: later }]);
    await touchSessions(database(), [{ keyId: id, usedAt: new Date(0) }]);
    const { records } = await listSessions(database(), person.id, { limit: 10 });
    expect(records).toMatchObject([{ id, ip: '192.0.2.1', userAgent: 'test', lastUsedAt: later }]);
    await pruneSessions(database(), person.id);
    expect(await deleteSession(database(), newId(), id)).toBe(false);
    expect(await deleteSession(database(), person.id, id)).toBe(true);
    expect(await loadMemberValidity(database(), asked)).toMatchObject([{ holds: false }]);
    const idle = await addSession(person.id);
    await database().query("update identity_sessions set last_used_at = now() - interval '8 days' where id = $1", [idle.id]);
    expect(await findSessionByHash(database(), hashSessionToken(idle.token))).toBeNull();
  });

  test('a reset takes the second factor and every session', async () => {
    const { person } = await addOwner();
    const { token } = await addSession(person.id);
    await createIdentityRows(database()).create('twoFactor', {
      id: newId(),
      userId: person.id,
      secret: 's',
      backupCodes: 'b',
      verified: true,
    });
    expect(await resetPassword(database(), person.email, 'new', new Date())).toBe(true);
    expect(await resetPassword(database(), someEmail(), 'new', new Date())).toBe(false);
    expect(await findSessionByHash(database(), hashSessionToken(token))).toBeNull();
    expect(await database().query('select 1 from identity_totp where user_id = $1', [person.id])).toEqual([]);
  });

  test('rows of identity are made, found, changed, counted up and taken away by their conditions alone', async () => {
    const rows = createIdentityRows(database());
    const person = await addPerson();
    const identifier = randomUUID();
    const at = new Date();
    const challenge = { identifier, value: person.id, expiresAt: at, createdAt: at, updatedAt: at };
    const made = await rows.create('verification', { id: newId(), ...challenge });
    expect(made).toMatchObject(challenge);
    await rows.create('verification', { id: newId(), ...challenge, value: 'later', createdAt: new Date(at.getTime() + 1) });
    const named = [{ field: 'identifier', value: identifier }];
    expect(await rows.find('verification', named, 1, { field: 'createdAt', direction: 'desc' })).toMatchObject([{ value: 'later' }]);
    expect(await rows.count('verification', [...named, { field: 'expiresAt', operator: 'lte', value: at }])).toBe(2);
    expect(await rows.update('verification', [{ field: 'id', value: made.id }], { value: 'x' })).toMatchObject([{ value: 'x' }]);
    expect(await rows.remove('verification', named)).toHaveLength(2);
    const [factor] = [await rows.create('twoFactor', { id: newId(), userId: person.id, secret: 's', backupCodes: 'b', verified: false })];
    const byId = [{ field: 'id', value: factor?.id }];
    await Promise.all(Array.from({ length: 4 }, () => rows.increment('twoFactor', byId, { failedVerificationCount: 1 })));
    expect(await rows.increment('twoFactor', byId, {}, { lockedUntil: at })).toMatchObject([
      { failedVerificationCount: 4, lockedUntil: at },
    ]);
    await expect(rows.find('jwks', [], 1)).rejects.toThrow(/no model/);
    await expect(rows.find('user', [{ field: 'email; drop', value: 1 }], 1)).rejects.toThrow(/no field/);
  });

  test('a workspace is made with its owner and its log, and one person owns so many', async () => {
    const { person, membership } = await addOwner();
    expect(await hasMembers(database())).toBe(true);
    expect((await loadMembersOf(database(), [membership.workspaceId])).map(({ personId, role }) => [personId, role])).toEqual([
      [person.id, 'owner'],
    ]);
    expect((await listMembers(database(), membership.workspaceId, {}, { limit: 5 })).records).toMatchObject([{ email: person.email }]);
    const log = await listAuditEntries(database(), membership.workspaceId, {}, { limit: 5 });
    expect(log.records.map(({ entry, actorName }) => [entry.action, actorName, entry.ip])).toEqual([
      ['member.added', 'Ada', '192.0.2.1'],
      ['workspace.created', 'Ada', '192.0.2.1'],
    ]);
  });

  test('the audit log refuses UPDATE, DELETE and TRUNCATE, and an entry of no workspace (I-36)', async () => {
    const workspaceId = await addWorkspace(database());
    const entry: AuditEntry = {
      id: newId(),
      workspaceId,
      actorType: 'system',
      actorId: null,
      actorName: 'Tranche',
      action: 'api_key.created',
      targetType: 'api_key',
      targetId: newId(),
      changes: { name: { from: null, to: 'k' } },
      ip: null,
      userAgent: null,
      createdAt: new Date(),
    };
    await insertRows(database(), auditEntryTable, [entry]);
    expect((await listAuditEntries(database(), workspaceId, { action: 'api_key.created' }, { limit: 5 })).records[0]?.entry).toEqual(entry);
    for (const statement of ['update audit_entries set ip = null', 'delete from audit_entries', 'truncate audit_entries'])
      await expect(database().query(statement)).rejects.toThrow(/kept as they are/);
    await expect(insertRows(database(), auditEntryTable, [{ ...entry, id: newId(), workspaceId: newId() }])).rejects.toThrow(/foreign key/);
  });
});
