// The decisions on payments, projects, keys and endpoints: given a record, when asked, then this.

import { createHash, randomFillSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type ApiKey,
  decideKeyCreation,
  decideKeyRevocation,
  decideKeyRotation,
  hashKeySecret,
  keyHint,
  makeKeySecret,
  refuseKey,
} from './api-key.ts';
import type { Context, Decision } from './decision.ts';
import { unharmed } from './endpoint-flow.ts';
import { MAX_SECRETS } from './endpoint-sending.ts';
import { chainHash, GENESIS_HASH } from './event.ts';
import { formatInvoiceNumber, type Invoice } from './invoice.ts';
import { postEntries } from './ledger.ts';
import { decideRelease, type Payment } from './payment.ts';
import { decideProjectCreation, decideProjectUpdate, type Project } from './project.ts';
import { allScopes } from './scopes.ts';
import { decideEndpointUpdate, decideSecretRotation, type WebhookEndpoint } from './webhook-endpoint.ts';

const now = new Date('2026-05-01T10:00:00.000Z');
const later = new Date(now.getTime() + 3_600_000);
const workspaceId = '01900000-0000-7000-8000-000000000001';
const id = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
let made = 1000;
const context: Context = {
  workspace: { id: workspaceId, name: 'w', defaultCurrency: 'CHF', invoicePrefix: 'INV-', createdAt: now, closedAt: null },
  now,
  newId: () => id(++made),
  nextInvoiceNumber: 1,
  lastSeq: 41,
};

function accepted<T>(decision: Decision<T>) {
  if (!decision.accepted) throw new Error(`refused: ${decision.refusal.code}`);
  return decision;
}
const codeOf = (decision: Decision<unknown>): string => (decision.accepted ? 'accepted' : decision.refusal.code);

describe('a payment', () => {
  const shared = { workspaceId, projectId: id(2), milestoneId: id(3), clientId: 'acme', currency: 'CHF', createdAt: now };
  const payment: Payment = { ...shared, id: id(4), invoiceId: id(5), payeeId: null, amountMinor: 70n, status: 'pending', releasedAt: null };
  const invoice: Invoice = {
    ...shared,
    id: id(5),
    number: 1,
    paymentId: id(4),
    status: 'issued',
    paymentStatus: 'unpaid',
    lines: [],
    subtotalMinor: 70n,
    taxMinor: 0n,
    totalMinor: 70n,
    paidAt: null,
  };

  test('is released once: its invoice is paid, its entries move from payable to paid out, its event is told (I-1, I-8)', () => {
    const { changes, result } = accepted(decideRelease(payment, invoice, context));
    expect(result).toMatchObject({ status: 'released', releasedAt: now });
    expect(changes.invoices).toMatchObject([{ paymentStatus: 'paid', paidAt: now }]);
    expect(changes.entries?.map((entry) => [entry.account, entry.amountMinor])).toEqual([
      ['payable', 70n],
      ['paid_out', -70n],
    ]);
    expect(changes.events?.map((event) => event.type)).toEqual(['payment.released']);
    expect(accepted(decideRelease(result, invoice, context))).toMatchObject({ result, changes: {} });
  });

  test('waiting and then released leaves the same balances as released at once', () => {
    const money = { ...shared, paymentId: id(4), amountMinor: 70n };
    const balances = (movements: Parameters<typeof postEntries>[0][]) => {
      const sums: Record<string, bigint> = { receivable: 0n, payable: 0n, paid_out: 0n };
      for (const movement of movements) {
        const entries = postEntries(movement, money, id(9), now);
        expect(entries.reduce((sum, entry) => sum + entry.amountMinor, 0n)).toBe(0n);
        for (const entry of entries) sums[entry.account] = (sums[entry.account] ?? 0n) + entry.amountMinor;
      }
      return sums;
    };
    expect(balances(['accrued', 'released'])).toEqual(balances(['released_on_approval']));
  });
});

describe('a project', () => {
  const draft = {
    name: 'Site',
    clientId: 'acme',
    payeeId: 'ada',
    currency: null,
    release: 'on_approval' as const,
    metadata: {},
    milestones: [],
  };

  test('takes the currency of its workspace over and passes it on to its milestones', () => {
    const milestone = { title: 't', description: null, amountMinor: 5n, currency: null, payeeId: null, dueDate: null, metadata: {} };
    const { changes, result } = accepted(
      decideProjectCreation({ ...draft, milestones: [milestone, { ...milestone, currency: 'JPY' }] }, context),
    );
    expect(result).toMatchObject({ currency: 'CHF', status: 'active', version: 1 });
    expect(changes.milestones).toMatchObject([{ currency: 'CHF', payeeId: 'ada' }, { currency: 'JPY' }]);
    expect(changes.events?.map((event) => event.type)).toEqual(['project.created', 'milestone.created', 'milestone.created']);
    expect(changes.events?.[0]?.body).toMatch(
      /^\{"event":"project.created","data":\{"projectId":"prj_[0-9a-z]{26}","name":"Site","clientId":"acme"\}\}$/,
    );
  });

  test('is archived and taken back, and told of once', () => {
    const project = accepted(decideProjectCreation(draft, context)).result;
    const archived = accepted(decideProjectUpdate({ status: 'archived' }, null, project, context));
    expect(archived.changes.events?.map((event) => event.type)).toEqual(['project.archived']);
    expect(accepted(decideProjectUpdate({ status: 'archived' }, null, archived.result, context)).changes).toEqual({});
    expect(accepted(decideProjectUpdate({ status: 'active' }, null, archived.result, context))).toMatchObject({
      result: { status: 'active', version: 3 },
      changes: { events: [] },
    });
  });

  test('keeps what an update does not name, clears what it sets to null, and minds the version', () => {
    const project: Project = { ...accepted(decideProjectCreation(draft, context)).result, metadata: { a: '1' } };
    const { result } = accepted(decideProjectUpdate({ payeeId: null, name: undefined, metadata: { b: '2' } }, 1, project, context));
    expect(result).toMatchObject({ name: 'Site', payeeId: null, metadata: { a: '1', b: '2' }, version: 2 });
    expect(codeOf(decideProjectUpdate({ name: 'x' }, 1, result, context))).toBe('precondition_failed');
  });
});

describe('an API key', () => {
  const material = { hash: hashKeySecret('secret'), hint: 'tr_live_abcd' };
  const key: ApiKey = {
    id: id(7),
    workspaceId,
    name: 'k',
    ...material,
    scopes: ['projects:read'],
    expiresAt: null,
    revokedAt: null,
    createdAt: now,
  };

  test('has the form that secret scanners know: 32 random characters and 6 of their checksum', () => {
    const secrets = Array.from({ length: 200 }, () => makeKeySecret((bytes) => randomFillSync(bytes)));
    for (const secret of secrets) expect(secret).toMatch(/^tr_live_[0-9A-Za-z]{38}$/);
    expect(new Set(secrets).size).toBe(200);
    expect(hashKeySecret('a')).toEqual(createHash('sha256').update('a').digest());
    expect(keyHint('tr_live_0123456789abcdefghij0123456789abcdef')).toBe('tr_live_0123');
    expect(keyHint('short-configured-key')).toHaveLength(6);
  });

  test('cannot be given scopes that its maker lacks, by creation or by rotation', () => {
    const draft = { name: 'n', scopes: ['payments:release' as const], expiresAt: null, material };
    expect(codeOf(decideKeyCreation(draft, ['projects:read', 'api_keys:write'], context))).toBe('scope_escalation');
    expect(codeOf(decideKeyCreation(draft, allScopes, context))).toBe('accepted');
    expect(codeOf(decideKeyRotation(key, 0, material, ['api_keys:write'], context))).toBe('scope_escalation');
  });

  test('expires and is revoked for good', () => {
    expect(codeOf(decideKeyCreation({ name: 'n', scopes: ['projects:read'], expiresAt: now, material }, allScopes, context))).toBe(
      'validation_failed',
    );
    expect(refuseKey({ ...key, expiresAt: later }, now)).toBeNull();
    expect(refuseKey({ ...key, expiresAt: later }, later)).toBe('api_key_expired');
    const revoked = accepted(decideKeyRevocation(key, context)).result;
    expect(refuseKey(revoked, now)).toBe('api_key_revoked');
    expect(accepted(decideKeyRevocation(revoked, context)).changes).toEqual({});
    expect(codeOf(decideKeyRotation(revoked, 0, material, allScopes, context))).toBe('invalid_transition');
  });

  test('lives on for the overlap after a rotation, never longer than it would have', () => {
    const rotated = accepted(decideKeyRotation(key, 3_600_000, material, allScopes, context));
    expect(rotated.changes.apiKeys?.[0]).toMatchObject({ id: key.id, expiresAt: later });
    expect(rotated.result.id).not.toBe(key.id);
    const soon = new Date(now.getTime() + 1000);
    expect(
      accepted(decideKeyRotation({ ...key, expiresAt: soon }, 3_600_000, material, allScopes, context)).changes.apiKeys?.[0],
    ).toMatchObject({ expiresAt: soon });
  });
});

describe('a webhook endpoint', () => {
  const endpoint: WebhookEndpoint = {
    id: id(8),
    workspaceId,
    url: 'https://a.example',
    description: null,
    eventTypes: null,
    status: 'enabled',
    disabledReason: null,
    disabledCause: null,
    secrets: [{ sealed: 's1', expiresAt: null }],
    signatureSchemes: ['v1'],
    signingKeys: [],
    headers: [],
    maxConcurrency: 16,
    rateLimitPerSecond: null,
    ordering: 'none',
    generation: 1,
    health: unharmed,
    afterSeq: 5,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };

  test('says why it is disabled, and once enabled again is sent only what happens from then on', () => {
    const disabled = accepted(decideEndpointUpdate({ status: 'disabled' }, null, endpoint, context)).result;
    expect(disabled).toMatchObject({ status: 'disabled', disabledReason: 'Disabled by a request.', disabledCause: 'request', afterSeq: 5 });
    expect(accepted(decideEndpointUpdate({ description: 'x' }, null, disabled, context)).result.disabledCause).toBe('request');
    expect(accepted(decideEndpointUpdate({ status: 'enabled' }, null, disabled, context)).result).toMatchObject({
      disabledReason: null,
      disabledCause: null,
      afterSeq: 41,
    });
    expect(accepted(decideEndpointUpdate({ status: 'enabled' }, null, endpoint, context)).changes).toEqual({});
  });

  test('signs with old and new secrets while they overlap, and with a bounded number of them', () => {
    const fresh = (name: string) => ({ sealedSecret: name, signingKey: { publicKey: `public ${name}`, sealed: name } });
    let current = endpoint;
    for (let i = 2; i < 12; i++) current = accepted(decideSecretRotation(current, fresh(`s${i}`), 3_600_000, context)).result;
    expect(current.secrets).toHaveLength(MAX_SECRETS);
    expect(current.secrets[0]).toEqual({ sealed: 's11', expiresAt: null });
    for (const old of current.secrets.slice(1)) expect(old.expiresAt).toEqual(later);
    expect(accepted(decideSecretRotation(current, fresh('last'), 0, context)).result.secrets).toEqual([
      { sealed: 'last', expiresAt: null },
    ]);
  });
});

test('the hash of an event depends on each of its fields and on all events before it (I-6)', () => {
  const event = { workspaceId, seq: 1, id: id(1), createdAt: now, body: '{"event":"x"}' };
  const hash = chainHash(GENESIS_HASH, event).toString('hex');
  const others = [
    chainHash(Buffer.alloc(32, 1), event),
    chainHash(GENESIS_HASH, { ...event, seq: 2 }),
    chainHash(GENESIS_HASH, { ...event, id: id(2) }),
    chainHash(GENESIS_HASH, { ...event, createdAt: later }),
    chainHash(GENESIS_HASH, { ...event, body: '{"event":"y"}' }),
    chainHash(GENESIS_HASH, { ...event, workspaceId: id(3) }),
  ].map((other) => other.toString('hex'));
  expect(new Set([hash, ...others]).size).toBe(7);
});

test('invoice numbers read INV-000042 and grow past six digits', () => {
  expect([1, 42, 1_234_567].map((number) => formatInvoiceNumber(number, 'INV-'))).toEqual(['INV-000001', 'INV-000042', 'INV-1234567']);
});
