// What a caller may set, for a client or for one call, and what holds where nothing is set.
// Reads the environment where there is one; the API key stays in here and in the transport, out of everything that is printed.

import { TrancheError } from './errors.ts';

/** The part of `fetch` that is used; any function like it will do. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TrancheOptions {
  /**
   * The API key. Default: the environment variable `TRANCHE_API_KEY`. A function is asked before each attempt, so that a key can be replaced
   * while the program runs. `null` sends none: then `fetch` must authenticate by itself.
   */
  readonly apiKey?: string | (() => string | Promise<string>) | null | undefined;
  /** Where the server is. Default: `TRANCHE_BASE_URL`, else `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | undefined;
  /** How long one attempt may take, its body included. Default: 30,000. */
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
  /** The ETag that was read, such as `"3"`: the call fails with `PreconditionFailedError` when the resource has changed since. */
  readonly ifMatch?: string | undefined;
  /** The ETag that is held: a 304 answers where it is still current, and is thrown as an `ApiError`. */
  readonly ifNoneMatch?: string | undefined;
  /** Cancels the call, the waits between its attempts included. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Settings {
  readonly apiKey: string | (() => string | Promise<string>) | null;
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
  const apiKey = options.apiKey === undefined ? variable('TRANCHE_API_KEY') : options.apiKey;
  if (apiKey === undefined || apiKey === '') {
    throw new TrancheError('No API key: pass new Tranche({ apiKey }) or set TRANCHE_API_KEY.');
  }
  const baseUrl = options.baseUrl ?? variable('TRANCHE_BASE_URL') ?? DEFAULT_BASE_URL;
  if (!/^https?:\/\/[^/]/.test(baseUrl)) throw new TrancheError('baseUrl must begin with http:// or https://.');
  return {
    apiKey,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    // Called as a plain function: browsers refuse a `fetch` that is called as a method of something else.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    headers: options.headers ?? {},
  };
}

function variable(name: string): string | undefined {
  return runtime.process?.env?.[name] || undefined;
}

/** Such as ` node/24.1.0`; nothing where the runtime does not tell. */
export function runtimeName(): string {
  const node = runtime.process?.versions?.node;
  return node === undefined ? '' : ` node/${node}`;
}
