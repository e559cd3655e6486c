// What a caller may set, for a client or for one call, and what holds where nothing is set.
// Reads the environment where there is one; the API key stays in here and in the transport, out of everything that is printed.

import { TrancheError } from './errors.ts';
import { checkedKey, checkHeaders, discreet } from './headers.ts';

/** The part of `fetch` that is used; any function like it will do. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TrancheOptions {
  /**
   * The API key. Default: the environment variable `TRANCHE_API_KEY`. A function is asked before each attempt, so that a key can be replaced
   * while the program runs. `null` sends none: then `fetch` must authenticate by itself.
   */
  readonly apiKey?: string | (() => string | Promise<string>) | null | undefined;
  /**
   * For a page that the server itself serves: no key is sent, the browser adds the cookie of whoever is signed in, and this says which of
   * their workspaces is meant. A function is asked at each call; where it gives `null`, and for calls of the account, none is named.
   */
  readonly workspace?: string | (() => string | null) | undefined;
  /** Where the server is. Default: `TRANCHE_BASE_URL`, else `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | undefined;
  /** How long one attempt may take, its body and a function that gives the key included. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is tried again. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** What sends requests. Default: the `fetch` of the runtime. */
  readonly fetch?: Fetch | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** For one call; what is not set is as the client has it. */
export interface CallOptions {
  /** Makes a POST or PATCH happen once, however often it is sent. Default: a new UUID for each call. */
  readonly idempotencyKey?: string | undefined;
  /** The `version` that was read, or the ETag, such as `"3"`: the call fails with `PreconditionFailedError` when the resource has changed since. */
  readonly ifMatch?: string | number | undefined;
  /** The version or ETag that is held: a 304 answers where it is still current, and is thrown as an `ApiError` with that status. */
  readonly ifNoneMatch?: string | number | undefined;
  /** Cancels the call, the waits between its attempts included. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** For a stream. */
export interface StreamOptions extends CallOptions {
  /**
   * Called where something changed of which no event tells, with the kinds of records, named as their paths are: `['milestones']`. The server
   * sends it to a page it serves itself, not to keys; one may be missed.
   */
  readonly onChange?: ((resources: readonly string[]) => void) | undefined;
}

export interface Settings {
  readonly apiKey: string | (() => string | Promise<string>) | null;
  /** Null where a key says it. */
  readonly workspace: string | (() => string | null) | null;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_BASE_URL = 'http://127.0.0.1:8080';
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_RETRIES = 2;

interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>>; readonly versions?: { readonly node?: string } };
}
const runtime = globalThis as unknown as Runtime;

export function settingsOf(options: TrancheOptions): Settings {
  const { workspace = null } = options;
  const otherwise = workspace === null ? variable('TRANCHE_API_KEY') : null;
  const apiKey = options.apiKey === undefined ? otherwise : options.apiKey;
  if (apiKey === undefined || apiKey === '') {
    throw new TrancheError('No API key: pass new Tranche({ apiKey }) or set TRANCHE_API_KEY.');
  }
  if (typeof apiKey !== 'function' && apiKey !== null) checkedKey(apiKey);
  if (options.headers !== undefined) checkHeaders(options.headers);
  const baseUrl = options.baseUrl ?? variable('TRANCHE_BASE_URL') ?? DEFAULT_BASE_URL;
  if (!/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(baseUrl))
    throw new TrancheError('baseUrl must begin with http:// or https://, and have neither a name and password nor a query.');
  return {
    apiKey,
    workspace,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    ...limitsOf(options, { timeoutMs: DEFAULT_TIMEOUT_MS, maxRetries: DEFAULT_MAX_RETRIES }),
    // Called as a plain function: browsers refuse a `fetch` that is called as a method of something else.
    fetch: discreet(options.fetch ?? ((url, init) => fetch(url, init))),
    headers: options.headers ?? {},
  };
}

export interface Limits {
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** A timer cannot be set to more; it would ring at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What is set, else what holds otherwise. Anything that a timer or a loop would take for "at once" or "for ever" by accident is refused. */
export function limitsOf(given: Pick<CallOptions, keyof Limits>, otherwise: Limits): Limits {
  const { timeoutMs = otherwise.timeoutMs, maxRetries = otherwise.maxRetries } = given;
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > MAX_TIMEOUT_MS)
    throw new TrancheError(`timeoutMs must be a number over 0, at most ${MAX_TIMEOUT_MS}.`);
  if (!(Number.isInteger(maxRetries) || maxRetries === Number.POSITIVE_INFINITY) || maxRetries < 0)
    throw new TrancheError('maxRetries must be a whole number from 0, or Infinity.');
  return { timeoutMs, maxRetries };
}

function variable(name: string): string | undefined {
  return runtime.process?.env?.[name] || undefined;
}

/** Such as ` node/24.1.0`; nothing where the runtime does not tell. */
export function runtimeName(): string {
  const node = runtime.process?.versions?.node;
  return node === undefined ? '' : ` node/${node}`;
}
