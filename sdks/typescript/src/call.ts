// A call that is under way: a promise of its result, which can also be asked for the response around it.
// Sends nothing by itself.

import type { ApiResponse } from './response.ts';

export interface WithResponse<Result> {
  readonly data: Result;
  readonly response: ApiResponse;
}

/** Await it for the result, or call `withResponse()` for the status, the headers and the rate limit as well. */
export class Call<Result> implements Promise<Result> {
  readonly #outcome: Promise<WithResponse<Result>>;
  readonly [Symbol.toStringTag] = 'Call';

  constructor(outcome: Promise<WithResponse<Result>>) {
    this.#outcome = outcome;
  }

  withResponse(): Promise<WithResponse<Result>> {
    return this.#outcome;
  }

  // biome-ignore lint/suspicious/noThenProperty: being awaited is its purpose.
  then<Fulfilled = Result, Rejected = never>(
    onFulfilled?: ((result: Result) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    const fulfil = onFulfilled ? ({ data }: WithResponse<Result>) => onFulfilled(data) : ({ data }: WithResponse<Result>) => data as never;
    return this.#outcome.then(fulfil, onRejected);
  }

  catch<Rejected = never>(onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null): Promise<Result | Rejected> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Result> {
    return this.then().finally(onFinally);
  }
}
