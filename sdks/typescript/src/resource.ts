// What the generated resources are made of.
// Knows no resource by name.

import type { Call } from './call.ts';
import { TrancheError } from './errors.ts';
import type { EventStream } from './event-stream.ts';
import type { ListCall } from './list.ts';
import type { CallOptions } from './options.ts';

/** What carries the calls of resources out. */
export interface Requester {
  call<Result>(method: string, path: string, body: unknown, options: CallOptions): Call<Result>;
  /** `short` are the short names of filters that the query may hold: `project` for `project_id`. */
  list<Item>(path: string, query: object, options: CallOptions, short?: readonly string[]): ListCall<Item>;
  stream<Item>(path: string, query: object, options: CallOptions): EventStream<Item>;
}

export class Resource {
  protected readonly requester: Requester;

  constructor(requester: Requester) {
    this.requester = requester;
    // Not enumerable: printing a resource should not print the client behind it.
    Object.defineProperty(this, 'requester', { enumerable: false });
  }
}

/** An id as one segment of a path. An empty one would name the collection, and dots the path above it. */
export function segment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id))
    throw new TrancheError(`An id must be a text that is neither empty nor dots: ${JSON.stringify(id)}`);
  return encodeURIComponent(id);
}
