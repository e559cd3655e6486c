// Events of the log in words: every kind has a sentence, and what a payload lacks is left out.

import { expect, test } from 'vitest';
import { eventTypes } from '../../../../server/src/domain/event.ts';
import type { Event, EventType } from '../../client/sdk.ts';
import { eventWords } from './event-words.ts';

const event = (type: EventType, data: Event['data']): Event => ({
  id: 'evt_1',
  object: 'event',
  seq: 1,
  type,
  created_at: '2026-03-21T08:00:00.000Z',
  data,
});

test('every kind of event has words', () => {
  for (const type of Object.keys(eventTypes) as EventType[]) expect(eventWords(event(type, {})).title).not.toBe(type);
});

test('a milestone leads to itself on the page of its project, with its amount in its currency', () => {
  const words = eventWords(
    event('milestone.submitted', { projectId: 'prj_1', milestoneId: 'mil_1', title: 'Design', amount: 1500, currency: 'JPY' }),
  );
  expect(words).toEqual({ title: 'Milestone submitted', about: 'Design', amount: '¥1,500', href: '/projects/prj_1?open=mil_1' });
});

test('an invoice leads to its page and a disabled endpoint to its own', () => {
  const invoice = { projectId: 'prj_1', milestoneId: 'mil_1', invoiceId: 'inv_1', number: 'INV-000007', total: 1, currency: 'KWD' };
  expect(eventWords(event('invoice.issued', invoice))).toMatchObject({ about: 'INV-000007', href: '/invoices/inv_1' });
  expect(eventWords(event('webhook_endpoint.disabled', { endpointId: 'we_1', url: 'https://a.example' })).href).toBe(
    '/developers/webhooks/we_1',
  );
});

test('a kind that this page does not know is shown by its name, without what its payload lacks', () => {
  expect(eventWords(event('refund.made' as EventType, { amount: 1.5 }))).toEqual({
    title: 'refund.made',
    about: null,
    amount: null,
    href: null,
  });
});
