// The shape of lists: the envelope every list answers with, and the query that walks it.
// Knows no resource and no SQL.

import { z } from 'zod';
import type { IdKind, Uuid } from '../domain/ids.ts';
import { idFilter, moment } from './text.ts';

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 20;

interface ListWords {
  readonly description?: string;
  readonly nextCursor?: string;
  readonly example?: string;
}

/** The envelope of a list, a component of its own (`ProjectList`). */
export function listOf<Resource extends z.ZodType>(id: string, resource: Resource, example: z.output<Resource>, words: ListWords = {}) {
  return z
    .object({
      object: z.literal('list'),
      data: z.array(resource),
      has_more: z.boolean().meta({ description: 'Whether there is more in the direction of the paging.' }),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: words.nextCursor ?? 'The value of `starting_after` for the next page; null when there is none.' }),
    })
    .meta({
      id,
      description: words.description ?? 'One page of a list, newest first.',
      example: { object: 'list', data: [example], has_more: words.example !== undefined, next_cursor: words.example ?? null },
    });
}

const SIZE = `an integer from 1 to ${MAX_PAGE_SIZE}`;

export const limitField = z
  .string({ error: `Must be ${SIZE}, given once.` })
  .transform((text, context): number => {
    const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= MAX_PAGE_SIZE) return limit;
    context.issues.push({ code: 'invalid_format', format: 'limit', input: text, message: `Must be ${SIZE}.` });
    return z.NEVER;
  })
  .default(DEFAULT_PAGE_SIZE)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, description: `How many to return. Default: ${DEFAULT_PAGE_SIZE}.` });

const timeFields = {
  created_after: moment.optional().meta({ description: 'Only what was created later than this (RFC 3339).' }),
  created_before: moment.optional().meta({ description: 'Only what was created earlier than this (RFC 3339).' }),
};

/** The fields by which every list newest-first is walked. The cursors are ids of the list's own kind. */
export function pageFields<Kind extends IdKind>(kind: Kind) {
  return {
    limit: limitField,
    starting_after: idFilter(kind)
      .optional()
      .meta({ description: 'Return what comes after this id, that is, older ones. Not with ending_before.' }),
    ending_before: idFilter(kind)
      .optional()
      .meta({ description: 'Return what comes just before this id, that is, newer ones. Not with starting_after.' }),
    ...timeFields,
  };
}

export interface PageQuery {
  limit: number;
  starting_after?: Uuid | undefined;
  ending_before?: Uuid | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** Both cursors at once have no meaning. */
export const oneCursor = (query: { starting_after?: unknown; ending_before?: unknown }): boolean =>
  query.starting_after === undefined || query.ending_before === undefined;
export const oneCursorError = { error: 'Send starting_after or ending_before, not both.', path: ['ending_before'] };

/** The query of a list: the page fields and the resource's own filters, nothing else. */
export function listQuery<Kind extends IdKind, Filters extends z.ZodRawShape>(kind: Kind, filters: Filters) {
  return z.strictObject({ ...pageFields(kind), ...filters }).refine(oneCursor, oneCursorError);
}

/** The filters of a list without its pages. */
export function choiceQuery<Filters extends z.ZodRawShape>(filters: Filters) {
  return z.strictObject({ ...timeFields, ...filters });
}
