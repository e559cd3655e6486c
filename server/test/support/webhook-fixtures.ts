// What tests of webhooks stand on: workspaces, events and endpoints as rows, and receivers on real sockets.
// Goes round the commands on purpose, so that delivery is tested by itself.

import { randomBytes, randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type EventType, GENESIS_HASH } from '../../src/domain/event.ts';
import { createIdGenerator, type Uuid } from '../../src/domain/ids.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook-endpoint.ts';
import { createCipher } from '../../src/store/cipher.ts';
import type { Database } from '../../src/store/database.ts';
import { eventTable } from '../../src/store/events.ts';
import { insertRows } from '../../src/store/tables.ts';
import { webhookEndpointTable } from '../../src/store/webhook-endpoints.ts';
import { makeSigningSecret } from '../../src/webhooks/sign.ts';

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
export const newId = createIdGenerator(Date.now, random);
export const cipher = createCipher(randomBytes(32));

export async function addWorkspace(database: Database): Promise<Uuid> {
  const [id, now] = [newId(), new Date()];
  await database.query(`insert into workspaces (id, name, default_currency, created_at) values ($1, 'Test', 'USD', $2)`, [id, now]);
  await database.query('insert into workspace_heads (workspace_id, event_hash, last_time) values ($1, $2, $3)', [id, GENESIS_HASH, now]);
  return id;
}

/** Appends events as a commit does: with the next sequence numbers and the head moved along, in one transaction. */
export function addEvents(database: Database, workspaceId: Uuid, types: readonly EventType[]): Promise<number[]> {
  return database.transaction(async (transaction) => {
    const heads = await transaction.query<{ event_seq: bigint }>(
      'select event_seq from workspace_heads where workspace_id = $1 for no key update',
      [workspaceId],
    );
    const last = Number(heads[0]?.event_seq);
    const events = types.map((type, i) => ({
      workspaceId,
      seq: last + 1 + i,
      id: newId(),
      type,
      projectId: newId(),
      body: JSON.stringify({ event: type, data: { n: last + 1 + i, name: 'Größe 📐' } }),
      hash: GENESIS_HASH,
      createdAt: new Date(),
    }));
    await insertRows(transaction, eventTable, events);
    await transaction.query('update workspace_heads set event_seq = $2 where workspace_id = $1', [workspaceId, last + types.length]);
    return events.map((event) => event.seq);
  });
}

export async function addEndpoint(
  database: Database,
  workspaceId: Uuid,
  fields: Partial<WebhookEndpoint> & { url?: string } = {},
): Promise<{ id: Uuid; secret: string }> {
  const [id, now, secret] = [newId(), new Date(), makeSigningSecret(random)];
  await insertRows(database, webhookEndpointTable, [
    {
      id,
      workspaceId,
      url: 'http://127.0.0.1:9/',
      description: null,
      eventTypes: null,
      status: 'enabled',
      disabledReason: null,
      secrets: [{ sealed: cipher.seal(secret, id), expiresAt: null }],
      afterSeq: 0,
      version: 1,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
      ...fields,
    },
  ]);
  return { id, secret };
}

export function disableEndpoint(database: Database): (workspaceId: Uuid, endpointId: Uuid, reason: string) => Promise<void> {
  return async (workspaceId, endpointId, reason) => {
    await database.query(`update webhook_endpoints set status = 'disabled', disabled_reason = $3 where workspace_id = $1 and id = $2`, [
      workspaceId,
      endpointId,
      reason,
    ]);
  };
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
}

/** A receiver on loopback. `answer` sees the request whole and how many came before; by default each is acknowledged with 200. */
export async function openReceiver(answer: (response: ServerResponse, before: number, socket: Socket) => void = (r) => void r.end()): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
    answer(response, received.length - 1, request.socket);
  });
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}
