// The scopes, kinds of event and requests that the dashboard knows are those of the API.

import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeId } from '../../../../server/src/domain/ids.ts';
import { roleScopes } from '../../../../server/src/domain/roles.ts';
import { webhookHeaders } from '../../../../server/src/webhooks/deliver.ts';
import { creationOf, draftOf, newDraft, updateOf } from './endpoint-draft.ts';
import { defaultEventTypes, eventTypes } from './event-kinds.ts';
import { repairOf } from './repair-draft.ts';
import { allScopes, pathToTry, presets } from './scopes.ts';
import { hoursOfDay, shareText } from './usage-hours.ts';
import { requestHeaders, webhookBody } from './webhook-request.ts';

const document = JSON.parse(readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[]; readonly example?: unknown }>> };
};
const { schemas } = document.components;

describe('what the pages of developers know of the API', () => {
  test('every scope can be chosen, once', () => {
    expect([...allScopes].sort()).toEqual([...(schemas.Scope?.enum ?? [])].sort());
  });

  test('every kind of event can be chosen, and the default is the one of the API', () => {
    expect([...eventTypes].sort()).toEqual([...(schemas.EventType?.enum ?? [])].sort());
    expect(JSON.stringify(schemas.WebhookEndpointCreate)).toContain(defaultEventTypes.map((type) => `\`${type}\``).join(', '));
  });

  test('a key of any set has a request to try, which the API has', () => {
    for (const { scopes } of presets) {
      const path = pathToTry(scopes)?.replace(/\?.*/, '') ?? '';
      expect(Object.keys(document.paths)).toContain(path);
    }
    expect(pathToTry(['payments:release'])).toBeUndefined();
  });

  test('no set but that of everything gives what makes keys or owners', () => {
    for (const { scopes } of presets)
      for (const scope of scopes) expect(scope).not.toMatch(/^(api_keys:write|workspace:own|members:write)$/);
    expect(allScopes.filter((scope) => roleScopes.owner.includes(scope))).toEqual(allScopes);
  });

  test('an edited endpoint sends only what was changed', () => {
    const endpoint = schemas.WebhookEndpoint?.example as Parameters<typeof draftOf>[0];
    const draft = draftOf(endpoint);
    expect(updateOf(draft, endpoint)).toEqual({});
    expect(updateOf({ ...draft, description: ' ', perSecond: 5 }, endpoint)).toEqual({ description: null, rate_limit_per_second: 5 });
    const headers = [{ key: 1, name: ' X-A ', value: 'b' }];
    expect(updateOf({ ...draft, headers, removedHeaders: ['X-Old'] }, endpoint)).toEqual({ headers: { 'X-A': 'b', 'X-Old': null } });
    expect(creationOf({ ...newDraft, url: ' https://example.com ' })).toMatchObject({
      url: 'https://example.com',
      event_types: defaultEventTypes,
    });
  });

  test('what is counted is what is then done', () => {
    const draft = {
      action: 'replay',
      endpointId: 'whe_1',
      statuses: ['failed'],
      eventTypes: [],
      projectId: '',
      since: '',
      until: '',
    } as const;
    expect(repairOf(draft, true)).toEqual({ ...repairOf(draft, false), dry_run: true });
    expect(repairOf({ ...draft, action: 'cancel' }, false)).toEqual({ action: 'cancel', dry_run: false, endpoint_id: 'whe_1' });
  });

  test('the body of a webhook is put together byte for byte', () => {
    expect(webhookBody({ type: 'project.created', data: { projectId: 'prj_1', name: 'Ä "b"', clientId: 'c' } })).toBe(
      '{"event":"project.created","data":{"projectId":"prj_1","name":"Ä \\"b\\"","clientId":"c"}}',
    );
  });

  test.each([
    3,
    null,
  ])('the headers of an attempt are those that the server sends, whose own values nobody reads (after %j)', (previous) => {
    const { event_id } = schemas.Delivery?.example as { event_id: string };
    const attempt = { number: 2, started_at: '2026-03-21T08:00:00.900Z' };
    const event = { id: decodeId('event', event_id), body: '{}' };
    const sent = webhookHeaders(
      { event, eventSeq: 4, previousSeq: previous, attempts: 1 } as Parameters<typeof webhookHeaders>[0],
      new Date(attempt.started_at),
      { secrets: [createSecretKey(Buffer.alloc(32))], keys: [] },
    );
    const shown = requestHeaders({ event_id, event_seq: 4, previous_event_seq: previous }, attempt, ['Authorization']);
    const { Authorization, 'user-agent': userAgent, 'webhook-signature': signature, ...same } = shown;
    expect([Authorization, userAgent]).toEqual(['••••••••', expect.stringMatching(/^Tranche\//)]);
    expect(signature).toContain('not kept');
    expect(same).toEqual(Object.fromEntries(Object.entries(sent).filter(([name]) => name !== 'webhook-signature')));
  });

  test('a day of usage has every hour once, and loses no request when hours share a bar', () => {
    const now = new Date('2026-03-21T08:30:00Z');
    const hours = [
      { hour: '2026-03-21T08:00:00.000Z', requests: 4, busiest_minute: 2 },
      { hour: '2026-03-20T09:00:00.000Z', requests: 5, busiest_minute: 1 },
      { hour: '2026-03-20T08:00:00.000Z', requests: 9, busiest_minute: 1 },
    ];
    for (const hoursPerBar of [1, 3] as const) {
      const bars = hoursOfDay(hours, now, hoursPerBar);
      expect(bars).toHaveLength(24 / hoursPerBar);
      expect(new Set(bars.map(({ label }) => label)).size).toBe(bars.length);
      expect(bars.map(({ value }) => Number(value)).filter((value) => value > 0)).toEqual([5, 4]);
    }
    expect([shareText(0, 100), shareText(1, 1_000), shareText(50, 200)]).toEqual(['0 %', '< 1 %', '25 %']);
  });
});
