// What happens past saturation: `node bench/overload.ts [--seconds n] [--only reads,approvals]`. Open-loop load at 0.5, 1, 2 and 3 times of what
// the service brings through, reads and approvals; ends with 1 where goodput at 3 times is below 0.8 of the maximum.
//
// The generator is a Node process on the same machine: what it takes is missing to the server. Its connections are bounded, so at the
// highest rates some requests find none free in time; they are shown as unsent, since a client would have given up.

import { parseArgs } from 'node:util';
import { fireOpen, type OpenLoad, type OpenMeasure, type OpenShot } from './open-loop.ts';
import { openSubject, type Subject, saturation } from './subject.ts';

const RATES = [0.5, 1, 2, 3] as const;
const LEAST_GOODPUT = 0.8;
const WARM_SECONDS = 2;
const CONNECTIONS = 768;
/** Of a client that finds no connection free. */
const PATIENCE_MS = 100;
/** More than any of this comes near to, per second: how saturation is found. */
const BEYOND = { reads: 80_000, approvals: 20_000 } as const;
const SATURATING_CONNECTIONS = 64;

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, only: { type: 'string', default: 'reads,approvals' } },
});
const seconds = Number(flags.seconds);

type Kind = keyof typeof BEYOND;

/** Reads are asked for again; each approval is one of its own. */
async function shotsFor(subject: Subject, kind: Kind, perSecond: number): Promise<{ shots: readonly OpenShot[]; once: boolean }> {
  if (kind === 'reads') return { shots: subject.reads, once: false };
  return { shots: await subject.approvals(Math.ceil(perSecond * (seconds + WARM_SECONDS)) + 1), once: true };
}

const ms = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 2 : 0)).padStart(7);
const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`.padStart(8);

function row(name: string, measure: OpenMeasure): string {
  const { intended, refused, unsent, broken, timedOut, otherStatuses, successMs, successServedMs, refusalServedMs } = measure;
  const odd = broken + timedOut + Object.values(otherStatuses).reduce((sum, count) => sum + count, 0);
  return [
    name.padEnd(14),
    String(Math.round(intended / seconds)).padStart(8),
    String(Math.round(measure.goodPerSecond)).padStart(8),
    ms(successMs.p50Ms),
    ms(successMs.p99Ms),
    ms(successServedMs.p99Ms),
    share(refused, intended),
    ms(refusalServedMs.p50Ms),
    ms(refusalServedMs.p99Ms),
    share(unsent, intended),
    String(odd).padStart(5),
    ms(measure.generatorLateMs.p99Ms),
  ].join(' ');
}

const HEAD =
  'rate             asked/s   good/s     p50     p99  served      503     p50     p99   unsent   odd    late\n' +
  '                                  ok, ms  ok, ms  p99 ms           503, ms 503, ms               gen p99';

async function run(subject: Subject, kind: Kind): Promise<boolean> {
  const base = { port: subject.server.port, seconds, warmUpSeconds: WARM_SECONDS } satisfies Partial<OpenLoad>;
  const most = await saturation(
    { ...base, ...(await shotsFor(subject, kind, BEYOND[kind])), connections: SATURATING_CONNECTIONS },
    BEYOND[kind],
  );
  console.log(`\n${kind}: ${Math.round(most)} a second at most, with ${SATURATING_CONNECTIONS} connections\n${HEAD}`);
  let best = most;
  let last = 0;
  for (const rate of RATES) {
    const perSecond = Math.round(most * rate);
    const measure = await fireOpen({
      ...base,
      ...(await shotsFor(subject, kind, perSecond)),
      perSecond,
      connections: CONNECTIONS,
      patienceMs: PATIENCE_MS,
    });
    console.log(row(`${rate} × most`, measure));
    best = Math.max(best, measure.goodPerSecond);
    last = measure.goodPerSecond;
  }
  const reached = last >= LEAST_GOODPUT * best;
  console.log(
    `goodput at ${RATES.at(-1)} × is ${(last / best).toFixed(2)} of the maximum: ${reached ? 'reached' : 'MISSED'} (${LEAST_GOODPUT})`,
  );
  return reached;
}

const subject = await openSubject();
try {
  for (const kind of ['reads', 'approvals'] as const)
    if (flags.only.split(',').includes(kind) && !(await run(subject, kind))) process.exitCode = 1;
} finally {
  await subject.stop();
}
