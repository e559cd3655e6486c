// Somebody who has read only the given interface, and how to POST a milestone: their ids, plain PATCHes, four webhooks on a real socket.
// Plays with fetch over HTTP; nothing here may lean on what that document does not say, but for creating milestones and subscribing.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';

interface Delivered {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

for (const { name, available, reason } of testDatabases) {
  describe.skipIf(!available)(`a newcomer, ${name}${available ? '' : ` (skipped: ${reason})`}`, () => {
    let app: TestApp;
    let base: string;
    const delivered: Delivered[] = [];
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      delivered.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(200).end();
    });

    beforeAll(async () => {
      app = await openTestApp({ database: name, deliver: true });
      base = await app.service.app.listen({ host: '127.0.0.1', port: 0 });
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
    });
    afterAll(async () => {
      receiver.closeAllConnections();
      receiver.close();
      await app.stop();
    });

    async function api(method: string, path: string, body?: Json): Promise<Json> {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { Authorization: `Bearer ${app.key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
      return JSON.parse(text);
    }

    test('gets from a project to a payment through the eight endpoints, and is told by exactly the four webhooks', async () => {
      const endpoint = await api('POST', '/v1/webhook_endpoints', { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });

      const project = await api('POST', '/v1/projects', { name: 'Website Redesign', client_id: 'client_123' });
      expect(project).toMatchObject({ name: 'Website Redesign', client_id: 'client_123' });
      const milestone = await api('POST', `/v1/projects/${project.id}/milestones`, { title: 'Design', amount: 150_000 });
      expect((await api('PATCH', `/v1/milestones/${milestone.id}`, { status: 'submitted' })).status).toBe('submitted');
      expect((await api('PATCH', `/v1/milestones/${milestone.id}`, { status: 'approved' })).status).toBe('approved');

      const payments = (await api('GET', `/v1/projects/${project.id}/payments`)).data;
      expect(payments).toHaveLength(1);
      expect(await api('GET', `/v1/payments/${payments[0].id}`)).toEqual(payments[0]);
      expect((await api('GET', '/v1/projects')).data.map(({ id }: Json) => id)).toEqual([project.id]);
      expect(await api('GET', `/v1/projects/${project.id}`)).toEqual(project);
      expect((await api('GET', `/v1/projects/${project.id}/milestones`)).data.map(({ id }: Json) => id)).toEqual([milestone.id]);
      expect((await api('GET', '/v1/invoices')).data).toHaveLength(1);

      await vi.waitFor(() => expect(delivered).toHaveLength(4), { timeout: 15_000, interval: 20 });
      const webhook = new Webhook(endpoint.secret);
      const events = delivered.map(({ headers, body }) => {
        const event: Json = webhook.verify(body, headers as Record<string, string>);
        expect(event).toEqual(JSON.parse(body));
        expect(Object.keys(event)).toEqual(['event', 'data']);
        expect(headers['content-type']).toBe('application/json');
        return event;
      });
      expect(new Set(delivered.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
      const shared = { projectId: project.id, milestoneId: milestone.id };
      const money = { amount: 150_000, currency: 'USD' };
      const byKind = Object.fromEntries(events.map(({ event, data }) => [event, data]));
      expect(byKind).toEqual({
        'project.created': { projectId: project.id, name: 'Website Redesign', clientId: 'client_123' },
        'milestone.submitted': { ...shared, title: 'Design', ...money },
        'milestone.approved': { ...shared, title: 'Design', ...money },
        'payment.released': { ...shared, ...money },
      });
      const released = delivered.find(({ body }) => body.includes('payment.released'))?.body ?? '';
      expect(released).toBe(JSON.stringify({ event: 'payment.released', data: { ...shared, ...money } }));
      const tampered = released.replace('150000', '950000');
      expect(() => webhook.verify(tampered, delivered.at(-1)?.headers as Record<string, string>)).toThrow();
    });

    test.each([
      '42',
      'ACME GmbH & Co. KG',
      '客户-7',
      'b2f6…/?#[]@!$',
      ' ',
      'x'.repeat(255),
      'prj_notours',
      'null',
    ])('may use %j as client_id, since it is theirs', async (client_id) => {
      const project = await api('POST', '/v1/projects', { name: 'n', client_id });
      expect(project.client_id).toBe(client_id);
      const found = (await api('GET', `/v1/projects?client_id=${encodeURIComponent(client_id)}`)).data;
      expect(found.map(({ id }: Json) => id)).toEqual([project.id]);
    });

    test('without a key is told to send one, in the form that the interface names', async () => {
      const response = await fetch(`${base}/v1/projects`);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="tranche"']);
      expect(((await response.json()) as Json).detail).toContain('Authorization: Bearer');
    });

    test('who approves twice pays once and is told once', async () => {
      const before = delivered.length;
      const project = await api('POST', '/v1/projects', { name: 'Twice', client_id: 'c' });
      const milestone = await api('POST', `/v1/projects/${project.id}/milestones`, { title: 't', amount: 1 });
      for (const status of ['submitted', 'approved', 'approved', 'approved'])
        await api('PATCH', `/v1/milestones/${milestone.id}`, { status });
      expect((await api('GET', `/v1/projects/${project.id}/payments`)).data).toHaveLength(1);
      const last = await api('POST', '/v1/projects', { name: 'the last', client_id: 'c' });
      await vi.waitFor(() => expect(delivered.some(({ body }) => body.includes(last.id))).toBe(true), { timeout: 15_000, interval: 20 });
      await app.service.worker.idle();
      const kinds = delivered
        .slice(before)
        .filter(({ body }) => body.includes(milestone.id))
        .map(({ body }) => JSON.parse(body).event);
      expect(kinds.sort()).toEqual(['milestone.approved', 'milestone.submitted', 'payment.released']);
    });
  });
}
