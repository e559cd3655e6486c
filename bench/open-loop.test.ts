// The open-loop generator against servers whose behaviour is known: it must keep its rate, and count a stall for everybody it held up.
// Small rates only; says nothing of any server's speed.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Latencies } from './open-loop/latencies.ts';
import { fireOpen } from './open-loop.ts';

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const shots = [{ method: 'GET', path: '/', key: 'k' }];

test('sends as many requests as were due and counts each under what came of it', async () => {
  let count = 0;
  const port = await serve((_request, response) => {
    count += 1;
    if (count % 10 === 0) response.writeHead(503, { 'retry-after': '1' }).end('{}');
    else if (count % 10 === 1) response.writeHead(404).end();
    else response.end('{}');
  });
  const measure = await fireOpen({ port, shots, once: false, perSecond: 200, seconds: 1, warmUpSeconds: 0, connections: 8 });
  expect(measure.intended).toBe(200);
  expect(count).toBe(200);
  expect([measure.succeeded, measure.refused, measure.otherStatuses]).toEqual([160, 20, { 404: 20 }]);
  expect([measure.refusedWithoutRetryAfter, measure.broken, measure.timedOut, measure.unsent]).toEqual([0, 0, 0, 0]);
});

test('counts a stall for every request that was due meanwhile, and not only for the one that met it', async () => {
  let stalledUntilMs = 0;
  const port = await serve((_request, response) => {
    if (stalledUntilMs === 0) stalledUntilMs = performance.now() + 600;
    setTimeout(() => response.end('{}'), Math.max(0, stalledUntilMs - performance.now()));
  });
  const measure = await fireOpen({
    port,
    shots,
    once: false,
    perSecond: 100,
    seconds: 1,
    warmUpSeconds: 0,
    connections: 2,
    patienceMs: 5_000,
  });
  expect(measure.succeeded).toBe(100);
  // Of the 60 that were due during the stall, the median waited for half of it; a closed loop would have met it twice.
  expect(measure.successMs.p50Ms).toBeGreaterThan(50);
  expect(measure.successMs.p99Ms).toBeGreaterThan(400);
});

test('gives up a request that finds no connection in time, and one that is not answered', async () => {
  const port = await serve(() => undefined);
  const load = { port, shots, once: false, perSecond: 50, seconds: 1, warmUpSeconds: 0, connections: 1, patienceMs: 100, timeoutMs: 300 };
  const measure = await fireOpen(load);
  expect(measure.intended).toBe(50);
  expect(measure.timedOut).toBeGreaterThan(0);
  expect(measure.unsent).toBeGreaterThan(30);
});

test('refuses to play a load with fewer requests than are due', async () => {
  await expect(fireOpen({ port: 1, shots, once: true, perSecond: 10, seconds: 1 })).rejects.toThrow('20 requests are due');
});

test('quantiles are right to a hundredth', () => {
  const latencies = new Latencies();
  for (let i = 1; i <= 10_000; i++) latencies.add(i / 10);
  expect(Math.abs(latencies.quantile(0.5) - 500) / 500).toBeLessThan(0.011);
  expect(Math.abs(latencies.quantile(0.99) - 990) / 990).toBeLessThan(0.011);
  expect(latencies.distribution().maxMs).toBe(1_000);
});
