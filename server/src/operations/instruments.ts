// What is counted while the service works, and how it is told in Prometheus' text format.
// Counts into plain numbers that were laid out beforehand: nothing is allocated, looked up or formatted on the road of a request.

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

export type Labels = Readonly<Record<string, string>>;

/** One metric with everything that is known of it at this moment. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Read from the database, and so the same whichever process is asked. */
  readonly isOfAll?: true;
  /** Of a histogram its series; of the others its values. */
  readonly samples?: readonly Sample[];
  readonly series?: readonly { readonly labels?: Labels; readonly histogram: Counted }[];
}

/** Seconds, from half a millisecond to ten seconds: for requests and transactions. */
export const REQUEST_BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds, up to the timeout of an attempt. */
export const ATTEMPT_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];

/** What a histogram has counted. */
export interface Counted {
  readonly bounds: readonly number[];
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** Counts values by size. `observe` costs a few nanoseconds: a walk along the bounds and three additions. */
export class Histogram {
  readonly bounds: readonly number[];
  /** How many values fell into each bucket; the last one has no upper bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }
}

/** Counts by a name out of a known set; what is not in it counts as the last one, so that the number of series has a bound. */
export class CounterByName<Name extends string> {
  readonly #counts: Map<Name, number>;
  readonly #other: Name;

  constructor(names: readonly Name[], other: Name) {
    this.#counts = new Map([...names, other].map((name) => [name, 0]));
    this.#other = other;
  }

  add(name: string, count = 1): void {
    const known = this.#counts.has(name as Name) ? (name as Name) : this.#other;
    this.#counts.set(known, (this.#counts.get(known) ?? 0) + count);
  }

  samples(label: string): Sample[] {
    return Array.from(this.#counts, ([name, value]) => ({ labels: { [label]: name }, value }));
  }
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The text that a collector reads. */
export function renderFamilies(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const { name, help, type, samples = [], series = [] } of families) {
    lines.push(`# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${name} ${type}`);
    for (const { labels, value } of samples) lines.push(`${name}${renderLabels(labels)} ${renderNumber(value)}`);
    for (const { labels = {}, histogram } of series) lines.push(...renderHistogram(name, labels, histogram));
  }
  return `${lines.join('\n')}\n`;
}

function renderHistogram(name: string, labels: Labels, { bounds, counts, sum }: Counted): string[] {
  let below = 0;
  const buckets = Array.from(counts, (count, bucket) => {
    below += count;
    const le = bucket < bounds.length ? String(bounds[bucket]) : '+Inf';
    return `${name}_bucket${renderLabels({ ...labels, le })} ${below}`;
  });
  return [...buckets, `${name}_sum${renderLabels(labels)} ${renderNumber(sum)}`, `${name}_count${renderLabels(labels)} ${below}`];
}

function renderLabels(labels: Labels | undefined): string {
  const parts = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escapeLabel = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function renderNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}

export function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ value }] };
}
