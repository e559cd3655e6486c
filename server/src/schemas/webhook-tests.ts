// A test of an endpoint and a diagnosis of it on the wire: what asks for one, and what came of it.
// Describes only; what sends and looks is in webhooks.

import { z } from 'zod';
import { attemptErrorKinds } from '../domain/delivery.ts';
import { eventType } from './events.ts';
import { countField, exampleId, idField, orEmpty, timestamp } from './text.ts';

export const webhookTestCreate = orEmpty(
  z
    .strictObject({
      event_type: eventType.optional().meta({ description: 'The kind of event to send a sample of. Default: `payment.released`.' }),
    })
    .meta({ id: 'WebhookTestCreate', description: 'A sample to send.', example: { event_type: 'payment.released' } }),
);

export const webhookTestExample = {
  object: 'webhook_test' as const,
  endpoint_id: exampleId('webhook_endpoint', 8),
  event_id: exampleId('event', 12),
  event_type: 'payment.released' as const,
  sent_at: '2026-03-21T09:00:00.000Z',
  duration_ms: 84,
  acknowledged: true,
  remote_address: '203.0.113.10',
  status_code: 200,
  error_kind: null,
  error: null,
  response_headers: { 'content-type': 'text/plain' },
  response_body: 'ok',
  response_truncated: false,
  request_headers: {
    'content-type': 'application/json',
    'webhook-id': exampleId('event', 12),
    'webhook-timestamp': '1774083600',
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    'Tranche-Attempt': '1',
    'Tranche-Test': 'true',
  },
  request_body: '{"event":"payment.released","data":{"projectId":"prj_01…","milestoneId":"mil_01…","amount":150000,"currency":"USD"}}',
};

const errorKind = z.enum(attemptErrorKinds).nullable();

export const webhookTestResource = z
  .object({
    object: z.literal('webhook_test'),
    endpoint_id: idField('webhook_endpoint'),
    event_id: idField('event', 'The `webhook-id` header. No event of the log has this id.'),
    event_type: eventType,
    sent_at: timestamp('When it was sent.'),
    duration_ms: countField('Until the answer had arrived, in milliseconds.'),
    acknowledged: z.boolean().meta({ description: 'Whether the answer was a 2xx.' }),
    remote_address: z.string().nullable().meta({ description: 'The IP address that was connected to; null when there was none.' }),
    status_code: countField('The HTTP status of the answer; null when none arrived.').nullable(),
    error_kind: errorKind.meta({ description: 'Why no answer arrived, as a word for programs; null when one did.' }),
    error: z.string().nullable().meta({ description: 'The same as a sentence.' }),
    response_headers: z.record(z.string(), z.string()).nullable().meta({ description: 'Null when no answer arrived.' }),
    response_body: z.string().nullable().meta({ description: 'The first 16 KiB of the answer, as text.' }),
    response_truncated: z.boolean().meta({ description: 'Whether the answer went on after that.' }),
    request_headers: z.record(z.string(), z.string()).meta({ description: 'What was sent, without the headers of your own.' }),
    request_body: z.string().meta({ description: 'The exact body that was sent and signed.' }),
  })
  .meta({ id: 'WebhookTest', description: 'A sample that was sent, and what came of it.', example: webhookTestExample });
export type WebhookTest = z.output<typeof webhookTestResource>;

export const webhookDiagnose = orEmpty(
  z.strictObject({}).meta({ id: 'WebhookDiagnose', description: 'Nothing to say; may be left out.', example: {} }),
);

/** What a diagnosis found, at the first step that went wrong. */
export const diagnosisVerdicts = [
  'healthy',
  'invalid_url',
  'dns_failed',
  'blocked_address',
  'connection_failed',
  'tls_failed',
  'no_answer',
  'redirected',
  'gone',
  'rejected',
] as const;
export type DiagnosisVerdict = (typeof diagnosisVerdicts)[number];

export const webhookDiagnosisExample = {
  object: 'webhook_diagnosis' as const,
  endpoint_id: exampleId('webhook_endpoint', 8),
  url: 'https://example.com/hooks/tranche',
  checked_at: '2026-03-21T09:00:00.000Z',
  verdict: 'tls_failed' as const,
  hint: 'The certificate is not accepted (CERT_HAS_EXPIRED). Renew it, and check that the server sends the whole chain.',
  dns: { host: 'example.com', duration_ms: 12, addresses: [{ address: '203.0.113.10', family: 4, blocked: null }], error: null },
  connection: { address: '203.0.113.10', port: 443, duration_ms: 21, error: null },
  tls: {
    duration_ms: 35,
    protocol: 'TLSv1.3',
    authorized: false,
    error: 'CERT_HAS_EXPIRED',
    chain: [
      {
        subject: 'example.com',
        issuer: 'Example CA',
        names: ['example.com'],
        valid_from: '2025-12-21T00:00:00.000Z',
        valid_until: '2026-03-20T00:00:00.000Z',
        days_left: -1,
      },
    ],
  },
  ping: null,
};

const certificate = z.object({
  subject: z.string(),
  issuer: z.string(),
  names: z.array(z.string()).meta({ description: 'The names it is made for.' }),
  valid_from: z.string().meta({ format: 'date-time' }),
  valid_until: z.string().meta({ format: 'date-time' }),
  days_left: z.number().meta({ type: 'integer', description: 'Whole days until it ends; negative when it has ended.' }),
});

const address = z.object({
  address: z.string().nullable().meta({ description: 'Null where webhooks are not sent to it.' }),
  family: z.number().meta({ type: 'integer', enum: [4, 6] }),
  blocked: z
    .string()
    .nullable()
    .meta({ description: 'What kind of address it is when webhooks are not sent to it, such as `private`; else null.' }),
});

const took = (what: string) => countField(`How long ${what} took, in milliseconds.`);

export const webhookDiagnosisResource = z
  .object({
    object: z.literal('webhook_diagnosis'),
    endpoint_id: idField('webhook_endpoint'),
    url: z.string().meta({ format: 'uri' }),
    checked_at: timestamp('When it was looked at.'),
    verdict: z.enum(diagnosisVerdicts).meta({ description: 'What went wrong first; `healthy` when nothing did.' }),
    hint: z.string().meta({ description: 'What it means and what to do, in plain words.' }),
    dns: z
      .object({
        host: z.string(),
        duration_ms: took('the look-up'),
        addresses: z.array(address),
        error: z.string().nullable().meta({ description: 'Why there is no answer; null when there is one.' }),
      })
      .nullable()
      .meta({ description: 'What the host name resolves to. Null when the URL is none.' }),
    connection: z
      .object({ address: z.string(), port: countField('The port.', 1), duration_ms: took('connecting'), error: z.string().nullable() })
      .nullable()
      .meta({ description: 'The connection; null when it did not come to that.' }),
    tls: z
      .object({
        duration_ms: took('the handshake'),
        protocol: z.string().nullable(),
        authorized: z.boolean().meta({ description: 'Whether webhooks are sent over it.' }),
        error: z.string().nullable().meta({ description: 'Why not, as the code of TLS; null when they are.' }),
        chain: z.array(certificate).meta({ description: 'What the server sent, its own certificate first.' }),
      })
      .nullable()
      .meta({ description: 'The secure connection; null with http, or when it did not come to that.' }),
    ping: z
      .object({
        status_code: countField('The HTTP status; null when no answer arrived.').nullable(),
        first_byte_ms: took('it until the answer began').nullable(),
        duration_ms: took('it in all'),
        error: z.string().nullable().meta({ description: 'Why no answer arrived; null when one did.' }),
        response_body: z.string().nullable().meta({ description: 'How the answer began, up to 1 KiB.' }),
      })
      .nullable()
      .meta({ description: 'What came of a signed webhook `{"event":"ping","data":{}}`; null when it did not come to that.' }),
  })
  .meta({ id: 'WebhookDiagnosis', description: 'What is wrong with an endpoint, step by step.', example: webhookDiagnosisExample });
export type WebhookDiagnosis = z.output<typeof webhookDiagnosisResource>;
