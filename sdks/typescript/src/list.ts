// Lists: one page when awaited, every item of every page when iterated with `for await`.
// Reads a page only when something of it is asked for.

import type { WithResponse } from './call.ts';
import type { ApiResponse } from './response.ts';

/** A page as the API answers it. */
export interface PageBody<Item> {
  readonly object: 'list';
  readonly data: Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export type Query = Readonly<Record<string, unknown>>;
export type LoadPage<Item> = (query: Query) => Promise<WithResponse<PageBody<Item>>>;

/** One page. Iterating it goes on to the pages after it. */
export class Page<Item> implements PageBody<Item>, AsyncIterable<Item> {
  readonly object = 'list';
  readonly data: Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly #query: Query;
  readonly #load: LoadPage<Item>;
  readonly #response: ApiResponse;

  constructor(body: PageBody<Item>, query: Query, load: LoadPage<Item>, response: ApiResponse) {
    this.data = body.data;
    this.has_more = body.has_more;
    this.next_cursor = body.next_cursor;
    this.#query = query;
    this.#load = load;
    this.#response = response;
  }

  /** The status, the headers and the rate limit of this page's answer. */
  get response(): ApiResponse {
    return this.#response;
  }

  /** The page after this one, or null on the last. With `ending_before` the way leads to newer items. */
  async nextPage(): Promise<Page<Item> | null> {
    const query = this.has_more ? this.#nextQuery() : null;
    return query === null ? null : loadPage(query, this.#load);
  }

  #nextQuery(): Query | null {
    if (this.#query.ending_before !== undefined) {
      const first = this.data[0] as { readonly id?: string } | undefined;
      return first?.id === undefined ? null : { ...this.#query, ending_before: first.id };
    }
    if (this.next_cursor === null) return null;
    // The event log goes by numbers, every other list by ids.
    const cursor = /^\d+$/.test(this.next_cursor) ? 'after_seq' : 'starting_after';
    return { ...this.#query, [cursor]: this.next_cursor };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page: Page<Item> | null = this;
    while (page !== null) {
      yield* this.#query.ending_before === undefined ? page.data : [...page.data].reverse();
      page = await page.nextPage();
    }
  }
}

async function loadPage<Item>(query: Query, load: LoadPage<Item>): Promise<Page<Item>> {
  const { data, response } = await load(query);
  return new Page(data, query, load, response);
}

/** A list that was asked for: await it for its first page, or go through all its items with `for await`. */
export class ListCall<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #query: Query;
  readonly #load: LoadPage<Item>;
  #first: Promise<Page<Item>> | null = null;

  constructor(query: Query, load: LoadPage<Item>) {
    this.#query = query;
    this.#load = load;
  }

  #page(): Promise<Page<Item>> {
    this.#first ??= loadPage(this.#query, this.#load);
    return this.#first;
  }

  // biome-ignore lint/suspicious/noThenProperty: being awaited is its purpose.
  then<Fulfilled = Page<Item>, Rejected = never>(
    onFulfilled?: ((page: Page<Item>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#page().then(onFulfilled, onRejected);
  }

  async withResponse(): Promise<WithResponse<Page<Item>>> {
    const page = await this.#page();
    return { data: page, response: page.response };
  }

  /** The items of all pages in an array, at most `limit` of them. */
  async toArray({ limit }: { readonly limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this.#page();
  }
}
