// What a project's page reads and writes: the project, its milestones and its totals, and how answers of writes come back into what is shown.
// Shows nothing.

import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import { ApiError, type Milestone, type MilestoneUpdate, type Project, type ProjectTotals } from '../../client/sdk.ts';

/** A timeline and a board show all at once. Beyond this the newest are shown, and so many more each time that more are asked for. */
export const MILESTONES_AT_ONCE = 500;
const MILESTONES_A_PAGE = 100;

export const projectQuery = (id: string) => ({
  queryKey: keys.one('projects', id),
  queryFn: (): Promise<Project> => client.projects.retrieve(id),
});

export const useProject = (id: string): UseQueryResult<Project> => useQuery(projectQuery(id));

export const milestonesKey = (projectId: string) => keys.other('milestones', 'of-project', projectId);

/** How many of a project are shown, where more were asked for. */
const wanted = new Map<string, number>();
const wantedOf = (projectId: string): number => wanted.get(projectId) ?? MILESTONES_AT_ONCE;

/** One more than wanted, which tells that there are more. */
const newestMilestones = (projectId: string, count: number, signal?: AbortSignal): Promise<readonly Milestone[]> =>
  client.projects.listMilestones(projectId, { limit: MILESTONES_A_PAGE }, { signal }).toArray({ limit: count + 1 });

export function useMilestones(projectId: string): UseQueryResult<readonly Milestone[]> {
  return useQuery({
    queryKey: milestonesKey(projectId),
    queryFn: ({ signal }) => newestMilestones(projectId, wantedOf(projectId), signal),
  });
}

export const hasMoreMilestones = (projectId: string, known: readonly Milestone[]): boolean => known.length > wantedOf(projectId);

export async function showMoreMilestones(projectId: string): Promise<void> {
  const count = wantedOf(projectId) + MILESTONES_AT_ONCE;
  const found = await newestMilestones(projectId, count);
  wanted.set(projectId, count);
  queryClient.setQueryData<readonly Milestone[]>(milestonesKey(projectId), found);
}

export function useProjectTotals(projectId: string): UseQueryResult<ProjectTotals> {
  return useQuery({
    queryKey: keys.other('projects', 'totals', projectId),
    queryFn: (): Promise<ProjectTotals> => client.projects.retrieveTotals(projectId),
  });
}

/** Puts what the server answered in the place of what was known; older than what is shown already, it changes nothing. */
export function putMilestone(milestone: Milestone): void {
  queryClient.setQueryData<readonly Milestone[]>(milestonesKey(milestone.project_id), (known) => {
    if (known === undefined) return known;
    const at = known.findIndex(({ id }) => id === milestone.id);
    if (at === -1) return [milestone, ...known];
    return (known[at] as Milestone).version > milestone.version ? known : known.with(at, milestone);
  });
}

/** What a change of a milestone or a project makes out of date, all of it asked for again. */
export async function refreshProject(): Promise<void> {
  await Promise.all(
    ['projects', 'milestones', 'payments', 'invoices', 'overview'].map((name) =>
      queryClient.invalidateQueries({ queryKey: keys.all(name) }),
    ),
  );
}

/** Changes a milestone as it was when it was looked at; one that has changed since is asked for anew, and the refusal handed on. */
export async function changeMilestone(held: Milestone, body: MilestoneUpdate, idempotencyKey: string): Promise<Milestone> {
  try {
    const changed = await client.milestones.update(held.id, body, { ifMatch: held.version, idempotencyKey });
    putMilestone(changed);
    return changed;
  } catch (error) {
    if (error instanceof ApiError) putMilestone(await client.milestones.retrieve(held.id).catch(() => held));
    throw error;
  } finally {
    void refreshProject();
  }
}

export async function changeProject(
  held: Project,
  body: Parameters<typeof client.projects.update>[1],
  idempotencyKey: string,
): Promise<Project> {
  try {
    const changed = await client.projects.update(held.id, body, { ifMatch: held.version, idempotencyKey });
    queryClient.setQueryData(keys.one('projects', held.id), changed);
    return changed;
  } catch (error) {
    if (error instanceof ApiError) await queryClient.invalidateQueries({ queryKey: keys.one('projects', held.id) });
    throw error;
  } finally {
    void refreshProject();
  }
}

/** The name of a project, for tables of its records: kept for long, since names seldom change and no event tells of it. */
export function useProjectName(id: string): string | null {
  const { data } = useQuery({
    queryKey: keys.other('names', 'project', id),
    queryFn: (): Promise<string> => client.projects.retrieve(id).then(({ name }) => name),
    staleTime: 5 * 60_000,
  });
  return data ?? null;
}
