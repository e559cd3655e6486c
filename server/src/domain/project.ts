// A project: what a client ordered, and the defaults its milestones take over.
// Pure: it is handed the time and fresh ids, and touches nothing outside its arguments.

import { isDeepStrictEqual } from 'node:util';
import { accept, type Context, type Decision, reject, rejectField, rejectStale } from './decision.ts';
import { applyFields, MAX_METADATA_KEYS, type Metadata, type MetadataPatch, mergeMetadata } from './editing.ts';
import { milestoneEvent, projectEvent } from './event.ts';
import type { Uuid } from './ids.ts';
import { draftMilestone, type MilestoneDraft } from './milestone.ts';

export const projectMoves = {
  active: ['archived'],
  archived: ['active'],
} as const satisfies Record<string, readonly string[]>;

export type ProjectStatus = keyof typeof projectMoves;

/** When an approved milestone's payment is released: within the approval's commit, or by a call of its own. */
export const releaseModes = ['on_approval', 'manual'] as const;
export type ReleaseMode = (typeof releaseModes)[number];

export interface Project {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly name: string;
  /** The integrator's own name for its client; opaque to us. */
  readonly clientId: string;
  readonly payeeId: string | null;
  readonly currency: string;
  readonly release: ReleaseMode;
  readonly status: ProjectStatus;
  readonly metadata: Metadata;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ProjectDraft {
  readonly name: string;
  readonly clientId: string;
  readonly payeeId: string | null;
  /** Null: the workspace's. */
  readonly currency: string | null;
  readonly release: ReleaseMode;
  readonly metadata: Metadata;
  readonly milestones: readonly MilestoneDraft[];
}

/** A new project together with its first milestones: all of it, or nothing. */
export function decideProjectCreation(draft: ProjectDraft, context: Context): Decision<Project> {
  const { milestones: drafts, currency, ...fields } = draft;
  const project: Project = {
    ...fields,
    id: context.newId(),
    workspaceId: context.workspace.id,
    currency: currency ?? context.workspace.defaultCurrency,
    status: 'active',
    version: 1,
    createdAt: context.now,
    updatedAt: context.now,
  };
  const milestones = drafts.map((milestone) => draftMilestone(milestone, project, context));
  const events = [
    projectEvent('project.created', project),
    ...milestones.map((milestone) => milestoneEvent('milestone.created', milestone)),
  ];
  return accept(project, { projects: [project], milestones, events });
}

/** Absent: leave as it is. */
export interface ProjectUpdate {
  readonly name?: string | undefined;
  readonly clientId?: string | undefined;
  readonly payeeId?: string | null | undefined;
  readonly currency?: string | undefined;
  readonly release?: ReleaseMode | undefined;
  readonly status?: ProjectStatus | undefined;
  readonly metadata?: MetadataPatch | undefined;
}

/** Edits a project, archives it or takes it back. What its milestones took over at their creation stays as it was. */
export function decideProjectUpdate(
  update: ProjectUpdate,
  expectedVersion: number | null,
  project: Project,
  context: Context,
): Decision<Project> {
  const stale = rejectStale(expectedVersion, project.version);
  if (stale !== null) return stale;
  const { status = project.status, metadata: patch, ...fields } = update;
  if (status !== project.status && !(projectMoves[project.status] as readonly string[]).includes(status)) {
    return reject('invalid_transition', `A project cannot go from ${project.status} to ${status}.`);
  }
  const metadata = patch === undefined ? project.metadata : mergeMetadata(project.metadata, patch);
  if (metadata === null) return rejectField('/metadata', 'too_many_keys', `Metadata holds at most ${MAX_METADATA_KEYS} keys.`);
  const changed = applyFields({ ...project, metadata, status }, fields);
  if (isDeepStrictEqual(changed, project)) return accept(project);
  const next: Project = { ...changed, version: project.version + 1, updatedAt: context.now };
  const archived = status === 'archived' && project.status !== 'archived';
  return accept(next, { projects: [next], events: archived ? [projectEvent('project.archived', next)] : [] });
}
