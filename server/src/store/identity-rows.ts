// The rows of identity as better-auth asks for them: few models, few columns, each named here; nothing else can be reached.
// Tokens of sessions are hashed on their way in, and looked up by their hash: the database never holds one.

import { hash } from 'node:crypto';
import type { Queryable } from './database.ts';

const models = {
  user: {
    table: 'identity_users',
    columns: {
      id: 'id',
      email: 'email',
      name: 'name',
      emailVerified: 'email_verified',
      image: 'image',
      twoFactorEnabled: 'totp_enabled',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  account: {
    table: 'identity_accounts',
    columns: {
      id: 'id',
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      password: 'password_hash',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  session: {
    table: 'identity_sessions',
    columns: {
      id: 'id',
      userId: 'user_id',
      token: 'token_hash',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      expiresAt: 'expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  verification: {
    table: 'identity_challenges',
    columns: {
      id: 'id',
      identifier: 'identifier',
      value: 'value',
      expiresAt: 'expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  twoFactor: {
    table: 'identity_totp',
    columns: {
      id: 'id',
      userId: 'user_id',
      secret: 'secret',
      backupCodes: 'backup_codes',
      verified: 'verified',
      failedVerificationCount: 'failures',
      lockedUntil: 'locked_until',
    },
  },
} as const;

export type IdentityModel = keyof typeof models;

/** One condition; all of a list hold together. */
export interface IdentityCondition {
  readonly field: string;
  readonly operator?: string | undefined;
  readonly value: unknown;
  readonly connector?: string | undefined;
}

export type IdentityRow = Record<string, unknown>;

export interface RowOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

const operators: Readonly<Record<string, string>> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' };

/** SHA-256: a token is random enough that nothing slower is needed. */
export const hashSessionToken = (token: string): Buffer => hash('sha256', token, 'buffer');

/**
 * A change of a password, of which a person's account is made, ends the sign-ins that wait for a code in the same commit: the password that
 * they have proved is none any more.
 */
const endingChallenges = (update: string): string => `
  with changed as (${update}), ended as (delete from identity_challenges where value in (select user_id::text from changed))
  select * from changed`;

/** More rows than a person has of anything. */
const MAX_ROWS = 1000;

function describe(model: string) {
  const described = models[model as IdentityModel];
  if (described === undefined) throw new Error(`identity has no model "${model}"`);
  const columns = described.columns as Readonly<Record<string, string>>;
  const columnOf = (field: string): string => {
    const column = columns[field];
    if (column === undefined) throw new Error(`identity has no field "${field}" in "${model}"`);
    return column;
  };
  const isToken = (field: string): boolean => model === 'session' && field === 'token';
  const sent = (field: string, value: unknown): unknown => (isToken(field) && typeof value === 'string' ? hashSessionToken(value) : value);

  function fromRow(row: Record<string, unknown>, token?: string): IdentityRow {
    const entity: IdentityRow = {};
    for (const [field, column] of Object.entries(columns)) {
      const value = row[column];
      // Whoever looked it up by the token gets that back; nobody else can learn it.
      entity[field] = isToken(field) ? (token ?? (value as Buffer).toString('base64url')) : value;
    }
    return entity;
  }

  function whereOf(conditions: readonly IdentityCondition[], bind: (value: unknown) => string): string {
    const parts = conditions.map(({ field, operator = 'eq', value, connector }, at) => {
      if (at > 0 && connector === 'OR') throw new Error('identity asks for no alternatives');
      const column = columnOf(field);
      if (operator === 'in' && Array.isArray(value)) return `${column} = any(${bind(value.map((one) => sent(field, one)))})`;
      if (value === null) return operator === 'ne' ? `${column} is not null` : `${column} is null`;
      const symbol = operators[operator];
      if (symbol === undefined) throw new Error(`identity knows no operator "${operator}"`);
      return `${column} ${symbol} ${bind(sent(field, value))}`;
    });
    return parts.length === 0 ? 'true' : parts.join(' and ');
  }

  const tokenIn = (conditions: readonly IdentityCondition[]): string | undefined =>
    conditions.find(({ field, operator = 'eq' }) => isToken(field) && operator === 'eq')?.value as string | undefined;

  return { table: described.table, columnOf, sent, fromRow, whereOf, tokenIn };
}

function binder() {
  const parameters: unknown[] = [];
  return { parameters, bind: (value: unknown): string => `$${parameters.push(value)}` };
}

/** Every look-up is by the primary key or by an index that 0005_people.sql makes for it: address, token, person, identifier. */
export function createIdentityRows(queryable: Queryable) {
  async function run(text: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]> {
    return queryable.query<Record<string, unknown>>(text, parameters);
  }

  async function change(
    model: string,
    conditions: readonly IdentityCondition[],
    assignments: (bind: (value: unknown) => string) => string[],
  ) {
    const { table, fromRow, whereOf, tokenIn } = describe(model);
    const { parameters, bind } = binder();
    const set = assignments(bind).join(', ');
    const text = `update ${table} set ${set} where ${whereOf(conditions, bind)} returning *`;
    const rows = await run(model === 'account' ? endingChallenges(text) : text, parameters);
    return rows.map((row) => fromRow(row, tokenIn(conditions)));
  }

  const valuesOf = (model: string, values: IdentityRow, bind: (value: unknown) => string): string[] => {
    const { columnOf, sent } = describe(model);
    return Object.entries(values).map(([field, value]) => `${columnOf(field)} = ${bind(sent(field, value))}`);
  };

  return {
    async create(model: string, data: IdentityRow): Promise<IdentityRow> {
      const { table, columnOf, sent, fromRow } = describe(model);
      const { parameters, bind } = binder();
      const fields = Object.keys(data).filter((field) => data[field] !== undefined);
      const values = fields.map((field) => bind(sent(field, data[field])));
      const [row] = await run(
        `insert into ${table} (${fields.map(columnOf).join(', ')}) values (${values.join(', ')}) returning *`,
        parameters,
      );
      return fromRow(row as Record<string, unknown>, data.token as string | undefined);
    },
    async find(model: string, conditions: readonly IdentityCondition[], limit: number, order?: RowOrder): Promise<IdentityRow[]> {
      const { table, columnOf, fromRow, whereOf, tokenIn } = describe(model);
      const { parameters, bind } = binder();
      const where = whereOf(conditions, bind);
      const sorted = order === undefined ? '' : ` order by ${columnOf(order.field)} ${order.direction === 'desc' ? 'desc' : 'asc'}`;
      const rows = await run(`select * from ${table} where ${where}${sorted} limit ${bind(Math.min(limit, MAX_ROWS))}`, parameters);
      return rows.map((row) => fromRow(row, tokenIn(conditions)));
    },
    async count(model: string, conditions: readonly IdentityCondition[]): Promise<number> {
      const { table, whereOf } = describe(model);
      const { parameters, bind } = binder();
      const [row] = await run(`select count(*)::integer as count from ${table} where ${whereOf(conditions, bind)}`, parameters);
      return row?.count as number;
    },
    update: (model: string, conditions: readonly IdentityCondition[], values: IdentityRow): Promise<IdentityRow[]> =>
      change(model, conditions, (bind) => valuesOf(model, values, bind)),
    /** Adds and sets in one statement, where the conditions hold: no two callers lose an increment. */
    increment(model: string, conditions: readonly IdentityCondition[], by: Readonly<Record<string, number>>, set: IdentityRow = {}) {
      const { columnOf } = describe(model);
      return change(model, conditions, (bind) => [
        ...Object.entries(by).map(([field, delta]) => `${columnOf(field)} = coalesce(${columnOf(field)}, 0) + ${bind(delta)}::integer`),
        ...valuesOf(model, set, bind),
      ]);
    },
    async remove(model: string, conditions: readonly IdentityCondition[]): Promise<IdentityRow[]> {
      const { table, fromRow, whereOf, tokenIn } = describe(model);
      const { parameters, bind } = binder();
      const rows = await run(`delete from ${table} where ${whereOf(conditions, bind)} returning *`, parameters);
      return rows.map((row) => fromRow(row, tokenIn(conditions)));
    },
  };
}

export type IdentityRows = ReturnType<typeof createIdentityRows>;
