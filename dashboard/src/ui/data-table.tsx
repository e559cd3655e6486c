// A list of the API as a table of any length: pages are fetched as they come into sight, and only the rows in sight exist.
// Filters and sorting are the page's; this shows what the query holds.

import { Button, Group, Text } from '@mantine/core';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { itemsOf, type ListQuery } from '../client/queries.ts';
import classes from './data-table.module.css';
import { ErrorNotice } from './error-notice.tsx';
import { Rows } from './skeletons.tsx';
import { TextLink } from './text-link.tsx';
import { PlainTimes } from './time.tsx';

export interface Column<Item> {
  readonly header: string;
  readonly cell: (item: Item) => ReactNode;
  /** Amounts and counts stand at the right. */
  readonly align?: 'right';
  /** Any CSS width; what has none shares the rest. */
  readonly width?: string | number;
  /** Left out where the screen is narrow. Keep two or three columns there. */
  readonly wideOnly?: boolean;
}

export interface DataTableProps<Item> {
  /** What is listed, for screen readers: "Payments". */
  readonly label: string;
  readonly query: ListQuery<Item>;
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  /** Where a row leads; the whole row is then a link. With `useWords().href({ open: id })` it opens a drawer. */
  readonly href?: (item: Item) => string;
  /** The row that is open beside the table. */
  readonly openId?: string | undefined;
  /** Instead of a table without rows: an EmptyState. Say something else where filters are set. */
  readonly empty: ReactNode;
}

/** Of a row with one line; others are measured as they appear. */
const ROW_PX = 41;
/** How many rows before the end the next page is asked for. */
const AHEAD_ROWS = 15;

export function DataTable<Item>(props: DataTableProps<Item>): ReactNode {
  const { query, empty } = props;
  if (query.isPending) {
    return (
      <div role="status" aria-busy="true" aria-label="Loading">
        <Rows count={10} />
      </div>
    );
  }
  if (query.data === undefined) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  const items = itemsOf(query);
  if (items.length === 0 && !query.hasNextPage) return empty;
  return <Table {...props} items={items} />;
}

function Table<Item>({
  label,
  query,
  columns,
  idOf,
  href,
  openId,
  items,
}: DataTableProps<Item> & { readonly items: readonly Item[] }): ReactNode {
  const table = useRef<HTMLTableElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => setScrollMargin(table.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({ count: items.length, estimateSize: () => ROW_PX, overscan: 12, scrollMargin, useFlushSync: false });
  const shown = rows.getVirtualItems();
  const first = shown[0];
  const last = shown.at(-1);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const isNearEnd = (last?.index ?? 0) >= items.length - AHEAD_ROWS;
  // A page that found nothing leads on; whether to look further, the reader says.
  const foundSome = (query.data?.pages.at(-1)?.items.length ?? 0) > 0;
  useEffect(() => {
    if (foundSome && isNearEnd && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [foundSome, isNearEnd, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const above = first === undefined ? 0 : first.start - scrollMargin;
  const below = last === undefined ? 0 : rows.getTotalSize() - (last.end - scrollMargin);
  return (
    <PlainTimes value={true}>
      {query.isRefetchError && (
        <div className={classes.outdated}>
          <Text size="sm" c="dimmed" mb="xs">
            Shown as of the last answer; asking again failed.
          </Text>
          <ErrorNotice error={query.error} retry={() => void query.refetch()} />
        </div>
      )}
      <table ref={table} className={classes.table} aria-label={label} aria-rowcount={hasNextPage ? -1 : items.length + 1}>
        <thead>
          <tr>
            {columns.map(({ header, align, width, wideOnly }) => (
              <th key={header} scope="col" data-align={align} data-wide-only={wideOnly} style={{ width }}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Space height={above} />}
          {shown.map(({ index }) => {
            const item = items[index] as Item;
            const id = idOf(item);
            return (
              <tr
                key={id}
                ref={rows.measureElement}
                data-index={index}
                data-open={id === openId || undefined}
                data-link={href !== undefined || undefined}
                aria-rowindex={index + 2}
              >
                {columns.map(({ header, cell, align, wideOnly }, column) => (
                  <td key={header} data-align={align} data-wide-only={wideOnly}>
                    {column === 0 && href !== undefined ? (
                      <TextLink href={href(item)} className={classes.link}>
                        {cell(item)}
                      </TextLink>
                    ) : (
                      cell(item)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
          {below > 0 && <Space height={below} />}
        </tbody>
      </table>
      <Foot query={query} count={items.length} />
    </PlainTimes>
  );
}

/** One cell only: to span columns that are left out where it is narrow would make room for them. */
function Space({ height }: { readonly height: number }): ReactNode {
  return (
    <tr className={classes.space}>
      <td style={{ height }} />
    </tr>
  );
}

function Foot<Item>({ query, count }: { readonly query: ListQuery<Item>; readonly count: number }): ReactNode {
  if (query.isFetchNextPageError) return <ErrorNotice error={query.error} retry={() => void query.fetchNextPage()} />;
  return (
    <Group justify="space-between" py="sm" mih={52}>
      <Text size="xs" c="dimmed" role="status">
        {query.hasNextPage ? `${count} loaded, and more` : `${count} in all`}
        {query.isStale && !query.isFetching && (query.data?.pages.length ?? 0) > 1 ? ' · something has changed since' : ''}
      </Text>
      <Group gap="xs">
        {query.isStale && (query.data?.pages.length ?? 0) > 1 && (
          <Button variant="subtle" size="compact-sm" loading={query.isRefetching} onClick={() => void query.refetch()}>
            Refresh
          </Button>
        )}
        {query.hasNextPage && (
          <Button variant="default" size="compact-sm" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        )}
      </Group>
    </Group>
  );
}
