// Projects on the wire: the resource, what creates and changes one, the query of the list, and the presenter.
// Decides nothing; the domain does.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { type Project, type ProjectStatus, projectMoves, releaseModes } from '../domain/project.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { listOf, oneCursor, oneCursorError, pageFields } from './lists.ts';
import { milestoneCreate } from './milestones.ts';
import {
  countField,
  currency,
  currencyField,
  exampleId,
  idField,
  metadata,
  metadataField,
  metadataKeyProblem,
  metadataPatch,
  metadataValue,
  name,
  timestamp,
  wanted,
} from './text.ts';

export const MAX_INLINE_MILESTONES = 100;
export const MAX_SEARCH_LENGTH = 100;

const statuses = Object.keys(projectMoves) as [ProjectStatus, ...ProjectStatus[]];
export const projectStatus = z
  .enum(statuses, wanted(`one of ${statuses.join(', ')}`))
  .meta({ id: 'ProjectStatus', description: 'An archived project takes no new milestones and no moves.' });
export const releaseMode = z.enum(releaseModes, wanted(`one of ${releaseModes.join(', ')}`)).meta({
  id: 'ReleaseMode',
  description: 'When the payment of an approved milestone is released: with the approval, or by `POST /v1/payments/{id}/release`.',
});

export const projectExample = {
  id: exampleId('project'),
  object: 'project' as const,
  name: 'New website',
  client_id: 'client_42',
  payee_id: 'freelancer_7',
  currency: 'USD',
  release: 'on_approval' as const,
  status: 'active' as const,
  allowed_transitions: ['archived' as const],
  metadata: { order: 'A-1001' },
  version: 1,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-02T09:30:00.000Z',
};

export const projectResource = z
  .object({
    id: idField('project'),
    object: z.literal('project'),
    name: z.string(),
    client_id: z.string().meta({ description: 'Your own id of the client who ordered it.' }),
    payee_id: z.string().nullable().meta({ description: 'Your own id of who is paid, for milestones that name nobody.' }),
    currency: currencyField('The currency of milestones that name none, a code of ISO 4217.'),
    release: releaseMode,
    status: projectStatus,
    allowed_transitions: z.array(projectStatus).meta({ description: 'The statuses it can be set to now.' }),
    metadata: metadataField,
    version: countField('Grows with every change; the ETag.', 1),
    created_at: timestamp('When it was created.'),
    updated_at: timestamp('When it last changed.'),
  })
  .meta({ id: 'Project', description: 'What a client ordered: work that is paid by milestone.', example: projectExample });

export function presentProject(project: Project): z.output<typeof projectResource> {
  return {
    id: encodeId('project', project.id),
    object: 'project',
    name: project.name,
    client_id: project.clientId,
    payee_id: project.payeeId,
    currency: project.currency,
    release: project.release,
    status: project.status,
    allowed_transitions: projectMoves[project.status] as unknown as ProjectStatus[],
    metadata: project.metadata,
    version: project.version,
    created_at: formatTimestamp(project.createdAt),
    updated_at: formatTimestamp(project.updatedAt),
  };
}

export const projectList = listOf('ProjectList', projectResource, projectExample);

export const projectCreateExample = {
  name: 'New website',
  client_id: 'client_42',
  currency: 'USD',
  payee_id: 'freelancer_7',
  metadata: { order: 'A-1001' },
  milestones: [
    { title: 'Design', amount: 150000, due_date: '2026-03-31' },
    { title: 'Launch', amount: 350000 },
  ],
};

export const projectCreate = z
  .strictObject({
    name: name.meta({ description: 'What people call it.' }),
    client_id: name.meta({ description: 'Your own id of the client who ordered it; any text.' }),
    currency: currency.optional().meta({ description: 'For milestones that name none. Default: the currency of the workspace.' }),
    payee_id: name.optional().meta({ description: 'Your own id of who is paid, for milestones that name nobody.' }),
    release: releaseMode.optional().meta({ description: 'Default: `on_approval`.' }),
    metadata: metadata.optional(),
    milestones: z
      .array(milestoneCreate, wanted('a list of milestones'))
      .max(MAX_INLINE_MILESTONES, {
        error: `A project takes up to ${MAX_INLINE_MILESTONES} milestones inline; POST the others to its milestones.`,
      })
      .optional()
      .meta({ description: 'Milestones to create with it, in one commit and in this order.' }),
  })
  .meta({ id: 'ProjectCreate', description: 'A new project.', example: projectCreateExample });

export type ProjectCreate = z.output<typeof projectCreate>;

export const projectUpdateExample = { name: 'New website, second phase', metadata: { order: 'A-1002' } };

export const projectUpdate = z
  .strictObject({
    name: name.optional(),
    client_id: name.optional().meta({ description: 'For payments and invoices from now on; those that exist keep theirs.' }),
    payee_id: name.nullable().optional(),
    release: releaseMode.optional(),
    currency: currency.optional().meta({ description: 'For milestones created from now on.' }),
    status: projectStatus.optional(),
    metadata: metadataPatch.optional(),
  })
  .meta({ id: 'ProjectUpdate', description: 'A change of a project. Fields not named stay as they are.', example: projectUpdateExample });

export type ProjectUpdate = z.output<typeof projectUpdate>;

const FILTER = /^metadata\[(.*)\]$/s;
const METADATA_FORM = 'Must be of the form metadata[key]=value.';

const metadataKeyOf = (parameter: string): string | null => FILTER.exec(parameter)?.[1] ?? null;

const SEARCH = `up to ${MAX_SEARCH_LENGTH} characters with a letter or digit`;

const searchText = z
  .string(wanted(SEARCH))
  .refine((value) => value.length <= MAX_SEARCH_LENGTH && value.isWellFormed() && /[\p{L}\p{N}]/u.test(value) && !/\p{Cc}/u.test(value), {
    error: `Must be ${SEARCH}.`,
  })
  .meta({
    maxLength: MAX_SEARCH_LENGTH,
    description: 'Words, each of which a word of the name or of the client id begins with, in any case and order.',
    example: 'web acme',
  });

const fields = {
  ...pageFields('project'),
  status: projectStatus.optional(),
  client_id: name.optional(),
  q: searchText.optional(),
  metadata: z
    .record(z.string(), z.string(), { error: METADATA_FORM })
    .optional()
    .meta({
      description: 'Only projects whose metadata holds this value under this key: `metadata[order]=A-1001`. Several narrow it further.',
      param: { style: 'deepObject', explode: true },
    }),
};

/**
 * The query of the list. `metadata[key]=value` arrives as flat names, which no object schema can declare: they are what is left
 * over, and gathered here. `metadata` is declared for the document (style deepObject) and is refused when sent by itself.
 */
export const projectListQuery = z
  .object(fields)
  .catchall(z.unknown())
  .refine(oneCursor, oneCursorError)
  // Also where other parameters are wrong, so that all of it is said at once.
  .superRefine(
    (query, context) => {
      const unknown = Object.keys(query).filter((parameter) => !Object.hasOwn(fields, parameter) && metadataKeyOf(parameter) === null);
      if (unknown.length > 0) context.issues.push({ code: 'unrecognized_keys', keys: unknown, input: query, continue: true });
    },
    { when: () => true },
  )
  .transform(({ metadata: _alone, ...query }, context) => {
    const filters: [string, string][] = [];
    for (const [parameter, value] of Object.entries(query)) {
      const key = metadataKeyOf(parameter);
      if (key === null) continue;
      const parsed = metadataValue.safeParse(value);
      const problem = metadataKeyProblem([key]) ?? (parsed.success ? null : 'Must be a text of up to 500 characters, given once.');
      if (problem !== null) context.issues.push({ code: 'custom', input: value, path: [parameter], message: problem });
      else filters.push([key, value as string]);
    }
    const problem = metadataKeyProblem(filters.map(([key]) => key));
    if (problem !== null) context.issues.push({ code: 'custom', input: query, path: ['metadata'], message: problem });
    const { limit, starting_after, ending_before, created_after, created_before, status, client_id, q } = query;
    // fromEntries defines its keys one by one, so that a key such as __proto__ is only a key.
    const metadata = filters.length > 0 ? Object.fromEntries(filters) : undefined;
    return { limit, starting_after, ending_before, created_after, created_before, status, client_id, q, metadata };
  });
