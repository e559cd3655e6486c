// The routes of the request log and of the use of the rate limit.
// They turn a query into a read and a record into an answer, and decide nothing.

import {
  presentRequestLogEntry,
  presentUsage,
  requestLogEntryExample,
  requestLogEntryList,
  requestLogQuery,
  usageExample,
  usageResource,
} from '../../schemas/request-log.ts';
import { listAnswer, listExample, pageOf, type Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function requestLogRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/request_log_entries',
      operationId: 'listRequestLogEntries',
      tag: 'Request log',
      summary: 'List requests',
      description:
        'The requests that were answered in the last days, newest first: every write and every failure, and of reads one in so many (the ' +
        'server is told how many). Refusals for the rate limit are gathered by second and counted. They appear within seconds, never hold what was sent, and may be ' +
        'incomplete when the server was overloaded or stopped without warning.',
      scope: 'request_log:read',
      query: requestLogQuery,
      success: {
        status: 200,
        description: 'A page of requests.',
        schema: requestLogEntryList,
        example: listExample(requestLogEntryExample),
      },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const { api_key_id: keyId, status_class: statusClass, method, path } = query;
        const found = await reads.listRequestLog(caller.workspaceId, { keyId, statusClass, method, path }, page);
        return listAnswer('request_log_entry', found, page, presentRequestLogEntry);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/usage',
      operationId: 'getUsage',
      tag: 'Request log',
      summary: 'Read what keys use of their limit',
      description: 'For each key that was used in the last 24 hours: what it has used of this minute, and its requests hour by hour.',
      scope: 'request_log:read',
      success: { status: 200, description: 'The use of the limit.', schema: usageResource, example: usageExample },
      errors: [],
      async handle({ caller }) {
        return { body: presentUsage(await reads.getUsage(caller.workspaceId)) };
      },
    }),
  ];
}
