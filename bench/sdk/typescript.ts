// Measures the TypeScript client against the bare fetch of the runtime, in one process and in turns: the same requests, the same connections.
// Starts no server and judges nothing; it prints one line of JSON, in the form that bench/sdk/run.ts describes.

import { parseArgs } from 'node:util';
import { Tranche } from '../../sdks/typescript/src/index.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    concurrency: { type: 'string', default: '16' },
  },
});
const [seconds, rounds, concurrency] = [values.seconds, values.rounds, values.concurrency].map(Number) as [number, number, number];
const { TRANCHE_BASE_URL: baseUrl, TRANCHE_API_KEY: apiKey } = process.env as Record<string, string>;
const LIST_LIMIT = 100;

/** Calls per second, `concurrency` at once. */
async function measure(call: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  let done = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < end) {
      await call();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return (done * 1_000) / (performance.now() - begun);
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;

const client = new Tranche({ apiKey, baseUrl });
const headers = { authorization: `Bearer ${apiKey}` };

async function bare(path: string, body?: object): Promise<unknown> {
  const init =
    body === undefined
      ? { headers }
      : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await fetch(`${baseUrl}${path}`, init)).json();
}

const created = { name: 'Measured', client_id: 'bench' };
for (let n = 1; n < LIST_LIMIT; n++) await client.projects.create(created);
const { id } = await client.projects.create(created);

const contests: Record<string, [ours: () => Promise<unknown>, theirs: () => Promise<unknown>]> = {
  retrieve: [async () => client.projects.retrieve(id), () => bare(`/v1/projects/${id}`)],
  list: [async () => client.projects.list({ limit: LIST_LIMIT }), () => bare(`/v1/projects?limit=${LIST_LIMIT}`)],
  create: [async () => client.projects.create(created), () => bare('/v1/projects', created)],
};

const measurements = [];
for (const [operation, [ours, theirs]] of Object.entries(contests)) {
  const pairs: { client: number; bare: number }[] = [];
  // The first round warms both up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const pair = { client: await measure(ours), bare: await measure(theirs) };
    if (round > 0) pairs.push(pair);
  }
  measurements.push({
    mode: 'async',
    operation,
    client_per_second: Math.round(median(pairs.map((pair) => pair.client))),
    bare_per_second: Math.round(median(pairs.map((pair) => pair.bare))),
    ratio: Math.round(median(pairs.map((pair) => pair.client / pair.bare)) * 1_000) / 1_000,
  });
}
process.stdout.write(`${JSON.stringify({ language: 'typescript', measurements })}\n`);
