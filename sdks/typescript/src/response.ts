// What an answer says besides its body: status, headers, the name of the request and what is left of the rate limit.
// Reads headers only.

export interface RateLimit {
  /** Requests a minute. */
  readonly limit: number;
  /** How many are left, at least. */
  readonly remaining: number;
  /** Seconds until the count begins anew. */
  readonly resetSeconds: number;
}

export class ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** How many times the request was sent. */
  readonly attempts: number;

  constructor(status: number, headers: Headers, attempts: number) {
    this.status = status;
    this.headers = headers;
    this.attempts = attempts;
  }

  /** Names the request in the log of the server. */
  get requestId(): string | null {
    return this.headers.get('request-id');
  }

  /** Whether this is the stored answer of an earlier request with the same idempotency key. */
  get replayed(): boolean {
    return this.headers.get('idempotent-replayed') === 'true';
  }

  /** The version of the resource, for `ifMatch`. */
  get etag(): string | null {
    return this.headers.get('etag');
  }

  get rateLimit(): RateLimit | null {
    const policy = /;q=(\d+)/.exec(this.headers.get('ratelimit-policy') ?? '');
    const left = /;r=(\d+);t=(\d+)/.exec(this.headers.get('ratelimit') ?? '');
    if (policy === null || left === null) return null;
    return { limit: Number(policy[1]), remaining: Number(left[1]), resetSeconds: Number(left[2]) };
  }
}
