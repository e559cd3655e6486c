// The configuration: every environment variable the service reads, in one table with its type, default and meaning.
// Reads the environment once; nothing else in the service does. The reference page is made from this table.

import { z } from 'zod';

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);
const onOff = z.enum(['on', 'off'], 'must be "on" or "off"').transform((value) => value === 'on');
const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, { error: 'must begin with postgres:// or postgresql://', abort: true })
  .refine((url) => URL.canParse(url), 'is not a URL; characters such as @, / and # in a password are written %40, %2F and %23');

interface Setting<T> {
  readonly schema: z.ZodType<T>;
  /** As one would write it in the environment; null when there is none. */
  readonly default: string | null;
  readonly description: string;
}

function setting<T>(schema: z.ZodType<T>, fallback: string, description: string): Setting<T> {
  return { schema, default: fallback, description };
}

function optional<T>(schema: z.ZodType<T>, description: string): Setting<T | undefined> {
  return { schema: schema.optional(), default: null, description };
}

export const settings = {
  HOST: setting(z.string().min(1), '127.0.0.1', 'Address to listen on. `0.0.0.0` for all; then put TLS in front.'),
  PORT: setting(integer(0, 65_535), '8080', 'Port to listen on; 0 picks a free one.'),
  PROCESSES: optional(
    z
      .string()
      .regex(/^(auto|\d+)$/, { error: 'must be a whole number, or auto', abort: true })
      .transform((text) => (text === 'auto' ? 0 : Number(text)))
      .refine((count) => count <= 256, 'must be from 0 to 256'),
    'So many processes serve on the one port, watched over by one more (PostgreSQL only); 0 or `auto`: one for each core. The same as `serve --processes`.',
  ),
  DATABASE_URL: optional(postgresUrl, 'PostgreSQL 15 or later. Without it the service uses the embedded database in `DATA_DIR`.'),
  DATABASE_DIRECT_URL: optional(
    postgresUrl,
    'A direct connection for notifications, locks and migrations, when `DATABASE_URL` is a transaction pooler such as PgBouncer.',
  ),
  DATABASE_REPLICA_URL: optional(
    postgresUrl,
    'A standby of the database, for lists asked for with `Tranche-Consistency: eventual`. While it is away or behind, the primary serves them.',
  ),
  DATABASE_REPLICA_MAX_LAG_MS: setting(integer(1_000, 3_600_000), '10000', 'How far behind the standby may be to be asked.'),
  DATABASE_POOL_SIZE: setting(integer(2, 200), '10', 'Connections to PostgreSQL, at most, besides the one for notifications.'),
  PREPARED_STATEMENTS: setting(onOff, 'on', '`off` behind a transaction pooler that does not support them.'),
  DATA_DIR: setting(z.string().min(1), './data', 'Directory of the embedded database, the encryption key and the control socket.'),
  ENCRYPTION_KEY: optional(
    z
      .string()
      .regex(
        /^\s*([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)\s*$/,
        'must be 32 bytes in base64 or hex; make one with: openssl rand -base64 32',
      ),
    '32 bytes in base64 or hex that encrypt stored secrets. Required with `DATABASE_URL`; else made in `DATA_DIR/encryption.key`.',
  ),
  LOG_LEVEL: setting(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'must be fatal, error, warn, info, debug, trace or silent'),
    'info',
    'How much to log, as JSON lines on standard error.',
  ),
  TRANCHE_API_KEY: optional(
    z.string().regex(/^[\x21-\x7e]{20,200}$/, 'must be 20 to 200 visible ASCII characters'),
    'Makes sure at start that this key exists in the default workspace, with every scope.',
  ),
  RATE_LIMIT_PER_MINUTE: setting(integer(1, 100_000_000), '1000', 'Requests per minute and API key, over all processes together.'),
  WEBHOOK_NETWORK: optional(
    z.enum(['public', 'any'], 'must be "public" or "any"'),
    '`public`: webhooks go to public addresses only. `any`: loopback and private ones too. Unset: `any` when `HOST` is loopback, else `public`; for `tranche worker` always `public`.',
  ),
  WEBHOOK_CONCURRENCY: setting(integer(1, 1_000), '50', 'Webhook deliveries under way at once in this process.'),
  WEBHOOK_WORKER: setting(
    onOff,
    'on',
    '`off`: `serve` delivers no webhooks and leaves them to `tranche worker` (PostgreSQL only). The same as `serve --no-worker`.',
  ),
  WEBHOOK_LATE_AFTER_SECONDS: setting(
    integer(1, 604_800),
    '300',
    'When a webhook has been due for longer than this, the log warns, once a minute, and `/readyz` says `degraded`.',
  ),
  DELIVERY_RETENTION_DAYS: setting(
    integer(0, 36_500),
    '90',
    'Deliveries that ended so many days ago are deleted, with their attempts; pending ones and events never are. 0 keeps them for ever.',
  ),
  ATTEMPT_RETENTION_DAYS: optional(
    integer(1, 36_500),
    'Attempts, which hold the beginning of each answer, are deleted after so many days already. Unset: they go with their delivery.',
  ),
  REQUEST_LOG_RETENTION_DAYS: setting(
    integer(0, 90),
    '7',
    'For how many days the request log is kept: every write, every failure and a sample of the reads. 0 keeps none.',
  ),
  REQUEST_LOG_READ_SAMPLE: setting(
    integer(0, 1_000_000),
    '100',
    'Of reads that succeed, one in so many is in the request log; 1 for all of them, 0 for none.',
  ),
  METRICS_PORT: optional(
    integer(0, 65_535),
    'Port of its own for `/metrics`, `/healthz` and `/readyz`; 0 picks a free one. Without it and without `METRICS_TOKEN` there are no metrics.',
  ),
  METRICS_HOST: setting(z.string().min(1), '127.0.0.1', 'Address of `METRICS_PORT`.'),
  METRICS_TOKEN: optional(
    z.string().regex(/^[\x21-\x7e]{20,200}$/, 'must be 20 to 200 visible ASCII characters'),
    'Bearer token that `/metrics` asks for. Without `METRICS_PORT`, `serve` answers `/metrics` on its main port with it.',
  ),
  OVERLOAD_WAIT_MS: setting(
    integer(10, 60_000),
    '250',
    'Requests that would have to wait longer than about this for the database, their commit or the event loop are answered 503 at once.',
  ),
  PUBLIC_URL: optional(
    z
      .string()
      .regex(/^https?:\/\/[^\s/?#@]+$/, 'must be the address that browsers see, such as https://tranche.example.com, without a path')
      .refine((url) => URL.canParse(url), 'is not a URL')
      .transform((url) => new URL(url).origin),
    'Where browsers reach the dashboard, such as `https://tranche.example.com`: for links in mails and, with `https`, for cookies that are kept to it. Set it behind a proxy.',
  ),
  TRUSTED_PROXIES: setting(
    integer(0, 10),
    '0',
    'How many proxies stand in front, each adding to `X-Forwarded-For`: whose address limits on signing in and the audit log take.',
  ),
  WORKSPACE_CREATION: setting(
    z.enum(['owners', 'anyone'], 'must be "owners" or "anyone"'),
    'owners',
    'Who may create further workspaces: `owners` of one, or `anyone` who is signed in. Without a mail server nobody’s address is verified.',
  ),
  SMTP_URL: optional(
    z.string().regex(/^smtps?:\/\/\S+$/, 'must begin with smtp:// or smtps://, such as smtps://user:password@mail.example.com'),
    'The mail server for invitations. Without it whoever invites is shown the link and passes it on.',
  ),
  SMTP_FROM: optional(
    z.string().regex(/^[^\r\n]+@[^\r\n]+$/, 'must be an address such as Tranche <tranche@example.com>'),
    'Whom mails come from. Required with `SMTP_URL`.',
  ),
  LANES: setting(
    integer(1, 16),
    '1',
    'Queues of writes side by side in this process, each with its own transactions, with PostgreSQL; workspaces are spread over them. More than one is worth it where a commit of the database takes 5 ms or more. The embedded database has one.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

type Settings = typeof settings;
export type Config = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> };

/** The configuration is wrong: the message lists every variable at fault and what would be right. */
export class ConfigurationError extends Error {}

/** Reads and checks the configuration. An empty variable counts as unset. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const config: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, { schema, default: fallback }] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const value = environment[name] === '' ? undefined : environment[name];
    const parsed = schema.safeParse(value ?? fallback ?? undefined);
    if (parsed.success) config[name] = parsed.data;
    else faults.push(`  ${name}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`);
  }
  if (config.DATABASE_URL !== undefined && !environment.ENCRYPTION_KEY) {
    faults.push('  ENCRYPTION_KEY: required with DATABASE_URL; make one with: openssl rand -base64 32');
  }
  if (config.DATABASE_REPLICA_URL !== undefined && config.DATABASE_URL === undefined) {
    faults.push('  DATABASE_REPLICA_URL: needs DATABASE_URL; the embedded database has no standby');
  }
  if (config.SMTP_URL !== undefined && (config.SMTP_FROM === undefined || config.PUBLIC_URL === undefined)) {
    faults.push('  SMTP_URL: needs SMTP_FROM, whom mails come from, and PUBLIC_URL, where their links lead');
  }
  if (faults.length > 0) throw new ConfigurationError(`The configuration is not right:\n${faults.join('\n')}`);
  return config as Config;
}

/** Whether an address is this machine's own: then webhooks may go there too unless configured otherwise. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\./.test(host);
}

export function webhookNetwork(config: Pick<Config, 'WEBHOOK_NETWORK' | 'HOST'>): 'public' | 'any' {
  return config.WEBHOOK_NETWORK ?? (isLoopback(config.HOST) ? 'any' : 'public');
}

/** How the database is opened. */
export function databaseOptions(config: Config) {
  return {
    databaseUrl: config.DATABASE_URL,
    databaseDirectUrl: config.DATABASE_DIRECT_URL,
    preparedStatements: config.PREPARED_STATEMENTS,
    dataDir: config.DATA_DIR,
    poolSize: config.DATABASE_POOL_SIZE,
  };
}

/** How a standby is opened, where there is one. */
export function replicaOptions(
  config: Pick<Config, 'DATABASE_REPLICA_MAX_LAG_MS' | 'DATABASE_POOL_SIZE' | 'PREPARED_STATEMENTS'>,
  url: string,
) {
  return {
    url,
    preparedStatements: config.PREPARED_STATEMENTS,
    poolSize: config.DATABASE_POOL_SIZE,
    maxLagMs: config.DATABASE_REPLICA_MAX_LAG_MS,
  };
}
