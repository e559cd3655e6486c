// How answers are kept and asked for again: the query client, the names of what is kept, and lists that go on page by page.
// A resource is named as its path is: `projects`, `webhook_endpoints`. What the name is of goes before the details, so that news can reach it.

import { type InfiniteData, QueryClient, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { ListCall } from './sdk.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Live events say when something changed; this is for what no event tells of.
      staleTime: 15_000,
      gcTime: 5 * 60_000,
      // The client itself tries again, with the waits that the server asks for.
      retry: false,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});

export type Filters = Readonly<Record<string, unknown>>;

/** Keys: `[resource, 'list', filters]`, `[resource, 'one', id]`, `[resource, name, …]` for anything else. */
export const keys = {
  all: (resource: string) => [resource] as const,
  list: (resource: string, filters: Filters = {}) => [resource, 'list', filters] as const,
  one: (resource: string, id: string) => [resource, 'one', id] as const,
  other: (resource: string, name: string, ...details: readonly unknown[]) => [resource, name, ...details] as const,
};

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null on the last. */
  readonly next: string | null;
}

export type ListQuery<Item> = UseInfiniteQueryResult<InfiniteData<ListPage<Item>>>;

export interface ListSource<Item> {
  readonly resource: string;
  /** What the key holds beside the resource: everything that changes the answer. */
  readonly filters?: Filters;
  /** Asks for one page: spread `cursor` into the query. */
  readonly load: (cursor: Cursor) => ListCall<Item>;
  /** The event log, looked back at, goes by numbers, every other list by ids. */
  readonly cursor?: 'starting_after' | 'before_seq';
  readonly enabled?: boolean;
}

export interface Cursor {
  readonly limit: number;
  readonly starting_after?: string;
  readonly before_seq?: number;
}

/** How many rows a page of a table asks for. */
const PAGE_ITEMS = 50;

/** A list of the API, page by page, for DataTable. Use as `useList({ resource: 'payments', filters, load: (cursor) => client.payments.list({ ...filters, ...cursor }) })`. */
export function useList<Item>({
  resource,
  filters = {},
  load,
  cursor = 'starting_after',
  enabled = true,
}: ListSource<Item>): ListQuery<Item> {
  return useInfiniteQuery({
    queryKey: keys.list(resource, filters),
    enabled,
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam }): Promise<ListPage<Item>> => {
      const at = pageParam === null ? {} : { [cursor]: cursor === 'before_seq' ? Number(pageParam) : pageParam };
      const page = await load({ limit: PAGE_ITEMS, ...at });
      return { items: page.data, next: page.has_more ? page.next_cursor : null };
    },
    getNextPageParam: (last) => last.next,
  });
}

/** The rows of all pages so far. */
export function itemsOf<Item>(query: ListQuery<Item>): readonly Item[] {
  return query.data?.pages.flatMap((page) => page.items) ?? [];
}
