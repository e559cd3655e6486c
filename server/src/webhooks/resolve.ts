// Resolves host names without the thread pool, which a slow name server would otherwise fill, and files and other names with it.
// Checks no address and keeps none: a name is asked for anew for each connection.

import type { LookupAddress } from 'node:dns';
import { promises as dns } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Every address of a host name, best first. Rejects with a code of `node:dns`. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** For a name in all. A name server that takes longer is as good as none. */
export const RESOLVE_TIMEOUT_MS = 5_000;
/** For one question to one name server, and how often it is asked. */
const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;
/** As much of the hosts file as is read. */
const MAX_HOSTS_BYTES = 1024 * 1024;
/** How long the hosts file is taken to be unchanged. */
const HOSTS_AGE_MS = 5_000;
const HOSTS_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
/** How long the machine's name servers are taken to be the same: one that starts before its network, or moves, finds the new ones. */
const NAMES_AGE_MS = 60_000;
/** Names that wait for the operating system at once; it is asked about one at a time, since each holds a thread that files need too. */
const MAX_SYSTEM_WAITING = 32;

type Names = Pick<dns.Resolver, 'resolve4' | 'resolve6'>;

export interface ResolverOptions {
  /**
   * Whether a name that no name server knows is asked of the operating system as well, which knows the short names of a cluster or of a
   * local network. For receivers beside the server; those on the internet have no such names.
   */
  readonly asksSystem: boolean;
  /** Makes what asks the name servers that the machine has now. */
  readonly openNames?: () => Names;
  readonly system?: (hostname: string) => Promise<LookupAddress[]>;
  readonly readHosts?: () => Promise<string>;
  readonly now?: () => number;
}

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const withCode = (code: string): Error => Object.assign(new Error(`no address: ${code}`), { code });

export function createResolver(options: ResolverOptions): Resolve {
  const now = options.now ?? (() => performance.now());
  const openNames = options.openNames ?? (() => new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }));
  const names = renewed(openNames, NAMES_AGE_MS, now);
  const askSystem = oneAtATime(options.system ?? ((hostname) => dns.lookup(hostname, { all: true })));
  const lookUpHosts = createHosts(options.readHosts ?? readHostsFile, now);
  const asked = new Map<string, Promise<readonly LookupAddress[]>>();

  async function find(hostname: string): Promise<readonly LookupAddress[]> {
    const known = await lookUpHosts(hostname);
    if (known !== null) return known;
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return LOOPBACK;
    const answer = await askNames(names(), hostname);
    if (answer.addresses.length > 0) return answer.addresses;
    // Without a name server in reach, the operating system may have other ways. Never after one that was slow: it would be slow again.
    const isOwnBusiness = answer.code === 'ECONNREFUSED' || (options.asksSystem && isUnknown(answer.code));
    if (isOwnBusiness) return askSystem(hostname);
    throw withCode(answer.code);
  }

  return (name) => {
    const hostname = name.toLowerCase().replace(/\.$/, '');
    // Connections that are opened at once share one answer.
    const under = asked.get(hostname);
    if (under !== undefined) return under;
    const answer = withinTime(find(hostname)).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  };
}

const isUnknown = (code: string): boolean => code === 'ENOTFOUND' || code === 'ENODATA';

/** A name that is still waiting when its time is over is answered for; the question itself ends by its own limits. */
async function withinTime<Value>(answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(withCode('ETIMEOUT')), RESOLVE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Both families at once. One that fails does not take the other down; when both do, the weightier reason is told. */
async function askNames(names: Names, hostname: string): Promise<{ readonly addresses: readonly LookupAddress[]; readonly code: string }> {
  const answers = await Promise.allSettled([names.resolve4(hostname), names.resolve6(hostname)]);
  const addresses: LookupAddress[] = [];
  const codes: string[] = [];
  for (const [i, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') addresses.push(...answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })));
    else codes.push((answer.reason as NodeJS.ErrnoException).code ?? 'EAI_FAIL');
  }
  return { addresses, code: codes.find((code) => !isUnknown(code)) ?? codes[0] ?? 'ENODATA' };
}

/** Runs one at a time, in order, and turns away what would wait too long a line. */
function oneAtATime(ask: (hostname: string) => Promise<LookupAddress[]>): Resolve {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return (hostname) => {
    if (waiting >= MAX_SYSTEM_WAITING) return Promise.reject(withCode('EAI_AGAIN'));
    waiting += 1;
    const answer = last.then(() => ask(hostname));
    last = answer.catch(() => {}).finally(() => (waiting -= 1));
    return answer;
  };
}

async function readHostsFile(): Promise<string> {
  return (await readFile(HOSTS_FILE)).subarray(0, MAX_HOSTS_BYTES).toString('utf8');
}

/** The hosts file by name, read again when it has become old. Null: the name is not in it. */
function createHosts(read: () => Promise<string>, now: () => number): (hostname: string) => Promise<readonly LookupAddress[] | null> {
  const hosts = renewed(() => read().then(parseHosts, () => new Map<string, readonly LookupAddress[]>()), HOSTS_AGE_MS, now);
  return async (hostname) => (await hosts()).get(hostname) ?? null;
}

/** What was made last, made anew when it has become old. */
function renewed<Value>(make: () => Value, ageMs: number, now: () => number): () => Value {
  let value: Value | undefined;
  let madeAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (value === undefined || now() - madeAt >= ageMs) {
      madeAt = now();
      value = make();
    }
    return value;
  };
}

/** Lines of an address and names, with `#` before remarks. */
export function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}
