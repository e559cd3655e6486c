// Webhook endpoints and deliveries as tests need them: made through the API, and waited for.
// Looks at no page.

import { expect } from 'vitest';
import { WAIT_MS } from './browser.ts';
import type { Stack } from './stack.ts';

export interface Found {
  readonly id: string;
  readonly event_id: string;
  readonly status: string;
  readonly attempts: number;
}

/** One that is told of new projects. */
export async function makeEndpoint(stack: Stack, url: string, more: object = {}): Promise<string> {
  return (await stack.call('POST', '/v1/webhook_endpoints', { url, event_types: ['project.created'], ...more })).id;
}

/** A project, and the delivery of its creation once it is as it should be. */
export async function makeDelivery(
  stack: Stack,
  endpointId: string,
  is: (delivery: Found) => boolean,
  project: object = { name: 'Delivered', client_id: 'acme' },
): Promise<Found> {
  const { id } = await stack.call('POST', '/v1/projects', project);
  const path = `/v1/webhook_endpoints/${endpointId}/deliveries?project_id=${id}`;
  const find = async (): Promise<Found | undefined> => (await stack.call('GET', path)).data[0];
  await expect.poll(() => find().then((found) => found !== undefined && is(found)), { timeout: WAIT_MS }).toBe(true);
  return (await find()) as Found;
}
