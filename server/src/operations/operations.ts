// What the operator does at the command line, as functions: the same whether the process holds the database itself or a
// serving process does and is reached over its control socket. Arguments and results are plain JSON.

import { z } from 'zod';
import { type Command, type Envelope, type Outcome, ownEnvelope, type StoredAnswer } from '../commands/command.ts';
import { createApiKey } from '../commands/create-api-key.ts';
import type { Lane } from '../commands/lane.ts';
import { revokeApiKey } from '../commands/revoke-api-key.ts';
import { type ApiKey, hashKeySecret, keyHint, makeKeySecret, refuseKey } from '../domain/api-key.ts';
import { decodeId, encodeId, type Uuid } from '../domain/ids.ts';
import { foldEmail } from '../domain/person.ts';
import { allScopes } from '../domain/scopes.ts';
import { apiKeyTable } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import { resetPassword } from '../store/people.ts';
import { findDefaultWorkspace } from '../store/workspaces.ts';
import { OperatorError } from './operator-error.ts';
import { verifyBooks, type WorkspaceReport } from './verify.ts';

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly created_at: string;
}

export interface Operations {
  createKey(input: unknown, onProgress: Progress): Promise<KeyRow & { secret: string }>;
  listKeys(input: unknown, onProgress: Progress): Promise<KeyRow[]>;
  revokeKey(input: unknown, onProgress: Progress): Promise<KeyRow>;
  verify(input: unknown, onProgress: Progress): Promise<WorkspaceReport[]>;
  resetPassword(input: unknown, onProgress: Progress): Promise<{ email: string; password: string }>;
}

export type OperationName = keyof Operations;

export type Progress = (line: string) => void;

export interface OperationServices {
  readonly database: Database;
  readonly lane: Lane;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
  readonly random: (bytes: Uint8Array) => void;
  readonly hashPassword: (password: string) => Promise<string>;
}

/** Of a password that is made for somebody: enough that none has to be refused. */
const PASSWORD_BYTES = 15;

const workspaceOption = z.string().optional();
const keyInput = z.strictObject({
  name: z.string().min(1).max(255),
  scopes: z
    .array(z.enum(allScopes, { error: ({ input }) => `"${String(input)}" is none; the scopes are ${allScopes.join(', ')}` }))
    .min(1)
    .optional(),
  expires_at: z.iso.datetime({ offset: true, error: 'must be a time such as 2027-01-31T00:00:00Z' }).optional(),
  workspace: workspaceOption,
});

export function createOperations({ database, lane, clock, newId, random, hashPassword }: OperationServices): Operations {
  async function workspaceOf(named: string | undefined): Promise<Uuid> {
    const id = named === undefined ? (await findDefaultWorkspace(database))?.id : decodeId('workspace', named);
    if (id === undefined || id === null) {
      throw new OperatorError(
        named === undefined ? 'There is no workspace yet; run "tranche serve" once.' : `"${named}" is not the id of a workspace.`,
      );
    }
    return id;
  }

  async function submitKeyCommand(command: (envelope: Envelope<ApiKey>) => Command<ApiKey>, workspaceId: Uuid): Promise<ApiKey> {
    let result: ApiKey | null = null;
    const render = (key: ApiKey): StoredAnswer => {
      result = key;
      return { status: 200, headers: {}, body: '' };
    };
    const outcome: Outcome = await lane.submit(command(ownEnvelope(workspaceId, render, 'Command line')));
    if ('code' in outcome) throw new OperatorError(outcome.detail);
    return result as unknown as ApiKey;
  }

  return {
    async createKey(input) {
      const { name, scopes = allScopes, expires_at, workspace } = parse(keyInput, input);
      const workspaceId = await workspaceOf(workspace);
      const secret = makeKeySecret(random);
      const draft = {
        name,
        scopes: [...new Set(scopes)],
        expiresAt: expires_at === undefined ? null : new Date(expires_at),
        material: { hash: hashKeySecret(secret), hint: keyHint(secret) },
      };
      const key = await submitKeyCommand((envelope) => createApiKey(envelope, draft, allScopes), workspaceId);
      return { ...keyRow(key, clock()), secret };
    },
    async listKeys(input) {
      const { workspace } = parse(z.strictObject({ workspace: workspaceOption }), input);
      // Primary key (workspace_id, id): oldest first, as a terminal reads.
      const rows = await database.query<Record<string, unknown>>(
        `select ${apiKeyTable.select('k')} from api_keys k where k.workspace_id = $1 order by k.id limit 1000`,
        [await workspaceOf(workspace)],
      );
      return rows.map((row) => keyRow(apiKeyTable.fromRow(row), clock()));
    },
    async revokeKey(input) {
      const { id, workspace } = parse(z.strictObject({ id: z.string(), workspace: workspaceOption }), input);
      const keyId = decodeId('api_key', id);
      if (keyId === null)
        throw new OperatorError(`"${id}" is not the id of a key; ids look like key_01h455vb4pex5vsknk084sn02q ("tranche keys list").`);
      return keyRow(await submitKeyCommand((envelope) => revokeApiKey(envelope, keyId), await workspaceOf(workspace)), clock());
    },
    async resetPassword(input) {
      const { email } = parse(z.strictObject({ email: z.string().min(1).max(254) }), input);
      const bytes = new Uint8Array(PASSWORD_BYTES);
      random(bytes);
      const password = Buffer.from(bytes).toString('base64url');
      const reset = { email: foldEmail(email), passwordHash: await hashPassword(password), now: clock(), newId };
      const found = await resetPassword(database, reset);
      if (!found) throw new OperatorError(`Nobody has signed up with "${email}".`);
      return { email: foldEmail(email), password };
    },
    verify(input, onProgress) {
      const { expect } = parse(z.strictObject({ expect: z.array(z.string()) }), input);
      return verifyBooks(database, expect, onProgress);
    },
  };
}

function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new OperatorError(parsed.error.issues.map((issue) => `${String(issue.path[0] ?? 'input')}: ${issue.message}`).join('\n'));
}

function keyRow(key: ApiKey, now: Date): KeyRow {
  const refusal = refuseKey(key, now);
  return {
    id: encodeId('api_key', key.id),
    name: key.name,
    hint: key.hint,
    status: refusal === null ? 'active' : refusal === 'api_key_revoked' ? 'revoked' : 'expired',
    scopes: key.scopes,
    expires_at: key.expiresAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
  };
}
