// The statements on people, sessions, members and the audit log, on both databases.

import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addWorkspace, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import type { AuditEntry } from '../domain/audit.ts';
import { GENESIS_HASH } from '../domain/event.ts';
import type { Person } from '../domain/person.ts';
import { newId } from '../open-store.ts';
import { auditEntryTable, listAuditEntries } from './audit-entries.ts';
import { createIdentityRows, hashSessionToken } from './identity-rows.ts';
import { hasMembers, listMembers, loadMembersOf, loadMemberValidity, membershipsOf } from './members.ts';
import {
  addSetupToken,
  claimCode,
  countAttempt,
  deleteChallenge,
  deleteSetupTokens,
  findChallenged,
  findPasswordHash,
  findPerson,
  findPersonByEmail,
  forgetAttempts,
  hasSetupToken,
  newPeopleWrites,
  pruneAttempts,
  renamePerson,
  resetPassword,
} from './people.ts';
import {
  deleteSession,
  deleteSessionByHash,
  findSessionByHash,
  listSessions,
  loadSessionValidity,
  pruneSessions,
  touchSessions,
} from './sessions.ts';
import { insertRows, sendWrites } from './tables.ts';
import { createOwnedWorkspace } from './workspaces.ts';

const MINUTE_MS = 60_000;

onEachDatabase('people', (database) => {
  const draft = (email: string) => ({
    id: newId(),
    accountId: newId(),
    email,
    name: 'Ada "A" \\ Byron',
    passwordHash: 'salt:hash',
    createdAt: new Date(),
  });
  const someEmail = (): string => `${randomUUID()}@example.com`;
  async function addPerson(email = someEmail()): Promise<Person> {
    const person = draft(email);
    await sendWrites(database(), newPeopleWrites([person]));
    return (await findPerson(database(), person.id)) as Person;
  }
  const wanted = (person: Person, sessionId: string) => ({
    name: 'Studio',
    person,
    sessionId,
    origin: { ip: '192.0.2.1', userAgent: 'test' },
    now: new Date(),
    newId,
    genesisHash: GENESIS_HASH,
    ownersOnly: false,
  });
  /** An owner whose only session has ended. */
  async function addOwner() {
    const person = await addPerson();
    const { id } = await addSession(person.id);
    const membership = await createOwnedWorkspace(database(), wanted(person, id));
    if (typeof membership === 'string') throw new Error(membership);
    await deleteSession(database(), person.id, id);
    return { person, membership };
  }
  async function addSession(personId: string) {
    const token = randomBytes(24).toString('base64url');
    const at = new Date();
    const session = { id: newId(), userId: personId, token, ipAddress: '192.0.2.1', userAgent: 'test', createdAt: at, updatedAt: at };
    await createIdentityRows(database()).create('session', { ...session, expiresAt: new Date(at.getTime() + MINUTE_MS) });
    return { id: session.id, token };
  }

  test('people are made with their passwords, and an address belongs to one person, also for many at once', async () => {
    const drafts = [draft(someEmail()), draft(someEmail())];
    await sendWrites(database(), newPeopleWrites(drafts));
    for (const { id, email, name, passwordHash, createdAt } of drafts) {
      const person = { id, email, name, totpEnabled: false, createdAt };
      expect(await findPersonByEmail(database(), email)).toEqual(person);
      expect(await findPasswordHash(database(), { id })).toBe(passwordHash);
      expect(await findPasswordHash(database(), { email })).toBe(passwordHash);
    }
    const email = someEmail();
    const many = await Promise.allSettled(
      Array.from({ length: 5 }, () => database().transaction((transaction) => sendWrites(transaction, newPeopleWrites([draft(email)])))),
    );
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await findPasswordHash(database(), { email: someEmail() })).toBeNull();
  });

  test('a name changes, and a workspace is made, with a session of that very person that still holds, and otherwise nothing', async () => {
    const { person: owner } = await addOwner();
    const session = await addSession(owner.id);
    const strange = await addSession((await addPerson()).id);
    const nameOf = async () => (await findPerson(database(), owner.id))?.name;
    expect(await renamePerson(database(), owner.id, session.id, 'Olivia', new Date())).toBe(true);
    await deleteSession(database(), owner.id, session.id);
    const idle = await addSession(owner.id);
    await database().query("update identity_sessions set last_used_at = now() - interval '8 days' where id = $1", [idle.id]);
    for (const sessionId of [session.id, strange.id, idle.id]) {
      expect(await renamePerson(database(), owner.id, sessionId, 'Mallory', new Date())).toBe(false);
      expect(await createOwnedWorkspace(database(), wanted(owner, sessionId))).toBe('session_ended');
    }
    expect(await nameOf()).toBe('Olivia');
  });

  test('a sign-in that waits for its code is found by its identifier alone, and ends with a change of the password in the same commit', async () => {
    const person = await addPerson();
    const rows = createIdentityRows(database());
    const at = new Date();
    const times = { expiresAt: new Date(at.getTime() + MINUTE_MS), createdAt: at, updatedAt: at };
    const identifier = randomUUID();
    const wait = (name: string, value: string) => rows.create('verification', { id: newId(), identifier: name, value, ...times });
    await wait(identifier, person.id);
    await wait(`attempts-${identifier}`, '0');
    expect(await findChallenged(database(), identifier)).toBe(person.id);
    expect(await findChallenged(database(), `attempts-${identifier}`)).toBeNull();
    await deleteChallenge(database(), identifier);
    expect(await findChallenged(database(), identifier)).toBeNull();
    await wait(identifier, person.id);
    expect(await rows.update('account', [{ field: 'userId', value: person.id }], { password: 'next' })).toHaveLength(1);
    expect(await findChallenged(database(), identifier)).toBeNull();
    expect(await findPasswordHash(database(), person)).toBe('next');
  });

  test('a code is claimed once, also by many at once, and again when its time is long over', async () => {
    const { id } = await addPerson();
    const code = randomBytes(32);
    const now = new Date();
    const claims = await Promise.all(Array.from({ length: 5 }, () => claimCode(database(), id, code, now, MINUTE_MS)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await claimCode(database(), id, code, new Date(now.getTime() + 2 * MINUTE_MS), MINUTE_MS)).toBe(true);
  });

  test('attempts of many at once are each counted, forgotten with their window, and cleared away after it', async () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    const now = new Date();
    const later = new Date(now.getTime() + MINUTE_MS);
    const counts = await Promise.all(Array.from({ length: 6 }, () => countAttempt(database(), a, now, MINUTE_MS)));
    expect(counts.map(({ attempts }) => attempts).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await countAttempt(database(), a, later, MINUTE_MS)).toMatchObject({ attempts: 1 });
    await countAttempt(database(), b, now, MINUTE_MS);
    await forgetAttempts(database(), b);
    expect(await countAttempt(database(), b, now, MINUTE_MS)).toMatchObject({ attempts: 1 });
    const old = new Date(now.getTime() - 60 * MINUTE_MS);
    for (let i = 0; i < 5; i++) await countAttempt(database(), randomBytes(32), old, MINUTE_MS);
    expect(await pruneAttempts(database(), now, 3)).toBe(3);
    expect(await pruneAttempts(database(), now, 3)).toBe(2);
    expect(await countAttempt(database(), b, now, MINUTE_MS)).toMatchObject({ attempts: 2 });
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
    const strangers = [{ workspaceId: await addWorkspace(database()), personId: person.id, sessionId: id }];
    expect(await loadMemberValidity(database(), strangers)).toEqual([{ ...strangers[0], role: null, holds: true }]);
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
    expect(await loadSessionValidity(database(), [{ workspaceId: membership.workspaceId, id: idle.id }])).toEqual([]);
    expect(await loadMemberValidity(database(), [{ ...asked[0], sessionId: idle.id } as (typeof asked)[0]])).toMatchObject([
      { holds: false },
    ]);
    const ending = await addSession(person.id);
    await deleteSessionByHash(database(), hashSessionToken(ending.token));
    expect(await findSessionByHash(database(), hashSessionToken(ending.token))).toBeNull();
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
    expect(await resetPassword(database(), { email: person.email, passwordHash: 'new', now: new Date(), newId })).toBe(true);
    expect(await resetPassword(database(), { email: someEmail(), passwordHash: 'new', now: new Date(), newId })).toBe(false);
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
      ['member.added', person.name, '192.0.2.1'],
      ['workspace.created', person.name, '192.0.2.1'],
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
