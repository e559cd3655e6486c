// An entry of the request log: that a request was answered, by whom it was asked, how and how fast. Never what was in it.
// Pure types and the rule which requests are kept.

import type { Uuid } from './ids.ts';

export const loggedMethods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'] as const;
export type LoggedMethod = (typeof loggedMethods)[number];

/** `4xx`: the first digit of the status. */
export const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const;
export type StatusClass = (typeof statusClasses)[number];

export interface RequestLogEntry {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly requestId: string;
  readonly method: LoggedMethod;
  /** The path as the document has it, `/v1/projects/{id}`: never with what was in its place. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  /** The key that asked; the session's id where a person did. */
  readonly keyId: Uuid;
  readonly bySession: boolean;
  /** How many requests it stands for: refusals for the rate limit are gathered. */
  readonly count: number;
  readonly createdAt: Date;
}
