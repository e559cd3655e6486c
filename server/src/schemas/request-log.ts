// The request log and the use of the rate limit on the wire.
// Presents what was counted; counts nothing.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { loggedMethods, type RequestLogEntry, statusClasses } from '../domain/request-log.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import type { KeyUsage } from '../domain/usage.ts';
import { listOf, listQuery } from './lists.ts';
import { countField, exampleId, idField, idFilter, text, timestamp, wanted } from './text.ts';

const MAX_PATH_LENGTH = 100;

const method = z
  .enum(loggedMethods, wanted(`one of ${loggedMethods.join(', ')}`))
  .meta({ id: 'RequestMethod', description: 'An HTTP method.' });
const statusClass = z
  .enum(statusClasses, wanted(`one of ${statusClasses.join(', ')}`))
  .meta({ id: 'StatusClass', description: 'Statuses by their first digit.' });

export const requestLogEntryExample = {
  id: exampleId('request_log_entry', 10),
  object: 'request_log_entry' as const,
  request_id: 'req_mh3k2x9f1a2b3c_4t',
  method: 'PATCH' as const,
  path: '/v1/milestones/{id}',
  status: 200,
  duration_ms: 3.2,
  api_key_id: exampleId('api_key', 7),
  session_id: null,
  count: 1,
  created_at: '2026-03-21T08:00:00.000Z',
};

export const requestLogEntryResource = z
  .object({
    id: idField('request_log_entry'),
    object: z.literal('request_log_entry'),
    request_id: z.string().meta({ description: 'The Request-Id of the answer.' }),
    method,
    path: z.string().meta({ description: 'The path as this document writes it, without the ids that were asked for.' }),
    status: z.number().meta({ type: 'integer', description: 'The status of the answer.' }),
    duration_ms: z.number().meta({ minimum: 0, description: 'From the end of its headers until its answer was handed to the network.' }),
    api_key_id: idField('api_key', 'The key that asked; null where a person did.').nullable(),
    session_id: idField('session', 'The session of the person who asked; null where a key did.').nullable(),
    count: countField(
      'How many requests the entry stands for. Refusals for the rate limit are gathered: one entry for a caller, an operation and a second, with what the first of them was.',
      1,
    ),
    created_at: timestamp('When it was answered.'),
  })
  .meta({
    id: 'RequestLogEntry',
    description: 'A request that was answered. Never a body, query or header.',
    example: requestLogEntryExample,
  });

export function presentRequestLogEntry(entry: RequestLogEntry): z.output<typeof requestLogEntryResource> {
  return {
    id: encodeId('request_log_entry', entry.id),
    object: 'request_log_entry',
    request_id: entry.requestId,
    method: entry.method,
    path: entry.path,
    status: entry.status,
    duration_ms: entry.durationMs,
    api_key_id: entry.bySession ? null : encodeId('api_key', entry.keyId),
    session_id: entry.bySession ? encodeId('session', entry.keyId) : null,
    count: entry.count,
    created_at: formatTimestamp(entry.createdAt),
  };
}

export const requestLogEntryList = listOf('RequestLogEntryList', requestLogEntryResource, requestLogEntryExample);

export const requestLogQuery = listQuery('request_log_entry', {
  api_key_id: idFilter('api_key').optional(),
  status_class: statusClass.optional(),
  method: method.optional(),
  path: text(MAX_PATH_LENGTH)
    .optional()
    .meta({ description: 'Exactly this one, as the document writes it.', example: '/v1/projects/{id}' }),
});

export const usageExample = {
  object: 'usage' as const,
  limit: 1000,
  minute: '2026-03-21T08:00:00.000Z',
  keys: [
    {
      api_key_id: exampleId('api_key', 7),
      name: 'Approvals',
      hint: 'tr_live_3Fq9',
      used: 125,
      hours: [{ hour: '2026-03-21T08:00:00.000Z', requests: 4210, busiest_minute: 640 }],
    },
  ],
};

const hourResource = z
  .object({
    hour: timestamp('When the hour began.'),
    requests: countField('Requests in it.'),
    busiest_minute: countField('Requests in its busiest minute, of one process.'),
  })
  .meta({ id: 'UsageHour', description: 'What a key used in an hour.', example: usageExample.keys[0]?.hours[0] });

const keyUsageResource = z
  .object({
    api_key_id: idField('api_key'),
    name: z.string().meta({ description: 'What people call the key.' }),
    hint: z.string().meta({ description: 'How its secret begins.' }),
    used: countField('Of this minute, at most: what is set aside for requests to come counts already.'),
    hours: z.array(hourResource).meta({ description: 'The last hours in which it was used, newest first, up to the last full minute.' }),
  })
  .meta({ id: 'KeyUsage', description: 'What a key has used of its limit.', example: usageExample.keys[0] });

export const usageResource = z
  .object({
    object: z.literal('usage'),
    limit: countField('Requests that each key may send in a minute.', 1),
    minute: timestamp('When this minute began.'),
    keys: z.array(keyUsageResource).meta({ description: 'Keys that were used lately, up to 100, the newest keys first.' }),
  })
  .meta({ id: 'Usage', description: 'Keys against their rate limit.', example: usageExample });

export interface Usage {
  readonly limit: number;
  readonly minute: Date;
  readonly keys: readonly KeyUsage[];
}

export function presentUsage({ limit, minute, keys }: Usage): z.output<typeof usageResource> {
  return {
    object: 'usage',
    limit,
    minute: formatTimestamp(minute),
    keys: keys.map((key) => ({
      api_key_id: encodeId('api_key', key.keyId),
      name: key.name,
      hint: key.hint,
      used: key.used,
      hours: key.hours.map(({ hour, requests, busiestMinute }) => ({
        hour: formatTimestamp(hour),
        requests,
        busiest_minute: busiestMinute,
      })),
    })),
  };
}
