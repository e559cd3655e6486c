// What the generated resources are made of.
// Knows no resource by name.

import type { Call } from './call.ts';
import { TrancheError } from './errors.ts';
import type { EventStream } from './event-stream.ts';
import type { ListCall } from './list.ts';
import type { CallOptions, StreamOptions } from './options.ts';

/** What carries the calls of resources out. */
export interface Requester {
  /** `object` is what the answer calls itself; without it, nothing is answered. */
  call<Result>(method: string, path: Path, body: unknown, options: CallOptions, object?: string): Call<Result>;
  /** A read that takes a query and answers no list. `short` as for lists. */
  read<Result>(path: Path, query: object, options: CallOptions, object?: string, short?: readonly string[]): Call<Result>;
  /** `short` are the short names of filters that the query may hold: `project` for `project_id`. */
  list<Item>(path: Path, query: object, options: CallOptions, short?: readonly string[]): ListCall<Item>;
  stream<Item>(path: Path, query: object, options: StreamOptions): EventStream<Item>;
}

export class Resource {
  protected readonly requester: Requester;

  constructor(requester: Requester) {
    this.requester = requester;
    // Not enumerable: printing a resource should not print the client behind it.
    Object.defineProperty(this, 'requester', { enumerable: false });
  }
}

/** A path of the API, or why it is none: ids come from callers, and a call fails when it is awaited, not when it is made. */
export type Path = string | TrancheError;

/** Puts ids into a path, each as one segment. An empty one would name the collection, and dots the path above it. */
export function at(parts: TemplateStringsArray, ...ids: readonly string[]): Path {
  let path = parts[0] as string;
  for (const [index, id] of ids.entries()) {
    if (typeof id !== 'string' || /^\.{0,2}$|\p{Cs}/u.test(id))
      return new TrancheError(`An id must be a text that is neither empty nor dots: ${JSON.stringify(id)}`);
    path += encodeURIComponent(id) + parts[index + 1];
  }
  return path;
}
