// Lists: one page when awaited, every item of every page when iterated with `for await`.
// Reads a page only when something of it is asked for.

import type { WithResponse } from './call.ts';
import { TrancheError, UnexpectedAnswerError } from './errors.ts';
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
    return this.has_more ? loadPage(this.#nextQuery(), this.#load) : null;
  }

  #nextQuery(): Query {
    const isBackwards = this.#query.ending_before !== undefined;
    const next = isBackwards ? (this.data[0] as { readonly id?: string } | undefined)?.id : this.next_cursor;
    // The event log goes by numbers, every other list by ids.
    const byNumber = this.#query.order === 'desc' ? 'before_seq' : 'after_seq';
    const cursor = isBackwards ? 'ending_before' : /^\d+$/.test(`${next}`) ? byNumber : 'starting_after';
    // Going on would end early without a word, or never.
    if (next === undefined || next === null || next === '' || `${this.#query[cursor]}` === next)
      throw new UnexpectedAnswerError('The list says that there is more, but not where.', this.#response);
    return { ...this.#query, [cursor]: next };
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
export class ListCall<Item> implements Promise<Page<Item>>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'ListCall';
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

  catch<Rejected = never>(onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null): Promise<Page<Item> | Rejected> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Page<Item>> {
    return this.#page().finally(onFinally);
  }

  async withResponse(): Promise<WithResponse<Page<Item>>> {
    const page = await this.#page();
    return { data: page, response: page.response };
  }

  /** The items of all pages in an array, at most `limit` of them. */
  async toArray(options: { readonly limit: number }): Promise<Item[]> {
    const limit: unknown = options?.limit;
    if (typeof limit !== 'number' || Number.isNaN(limit))
      throw new TrancheError('toArray needs { limit }: how many items at most. For as many as there are, that is Infinity.');
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
