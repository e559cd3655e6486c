// Doing something outside of the books once for an Idempotency-Key: who repeats a request waits for the first and gets its answer.
// Over several processes at the same moment it may be done twice; the answer that is kept is one.

import type { StoredAnswer } from '../commands/command.ts';
import { keepAnswer } from '../commands/keep-answer.ts';
import type { Lane } from '../commands/lane.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { type Answer, isRefusal, type RouteRequest } from './route.ts';
import { envelope, submit } from './writes.ts';

export interface OnceOptions {
  readonly lane: Lane;
  /** Whether an answer is kept under this key. */
  readonly hasAnswer: (workspaceId: Uuid, key: string) => Promise<boolean>;
}

export type Once = <Result extends object>(
  request: RouteRequest<unknown, unknown>,
  endpointId: Uuid,
  act: () => Promise<Result | Refusal>,
  render: (result: Result) => StoredAnswer,
) => Promise<Answer | Refusal>;

export function createOnce({ lane, hasAnswer }: OnceOptions): Once {
  const running = new Map<string, Promise<unknown>>();
  return async (request, endpointId, act, render) => {
    const { caller, idempotency } = request;
    const keep = (result: Parameters<typeof render>[0] | null) => submit(lane, keepAnswer(envelope(request, render), endpointId, result));
    const actAndKeep = async (): Promise<Answer | Refusal> => {
      const result = await act();
      return isRefusal(result) ? result : keep(result);
    };
    if (idempotency === null) return actAndKeep();
    const place = `${caller.workspaceId}:${idempotency.key}`;
    for (let before = running.get(place); before !== undefined; before = running.get(place)) await before.catch(() => {});
    // Taken before anything is waited for: of those that arrive together, one acts.
    const answer = (async () => ((await hasAnswer(caller.workspaceId, idempotency.key)) ? keep(null) : actAndKeep()))();
    running.set(place, answer);
    try {
      return await answer;
    } finally {
      running.delete(place);
    }
  };
}
