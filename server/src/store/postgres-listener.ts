// LISTEN on a connection of its own, which no pooler may share: it reconnects by itself and says whether it hears anything.
// Repeats nothing that was missed; who relies on notifications asks isListening().

import pg from 'pg';
import { endConnection, limitAnswers } from './conversation.ts';
import { DatabaseUnavailable } from './database.ts';
import type { Log } from './log.ts';
import { describe, runScript, toPortError } from './statements.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A network that swallows packets raises no error; only an answer shows that the connection lives. */
const PING_EVERY_MS = 1_000;
/** After so long without an answer we no longer claim to be listening … */
const SILENCE_MS = 2_500;
/** … and after so long we open another connection. */
const GIVE_UP_MS = 10_000;

type OnNotify = (payload: string) => void;

export class PostgresListener {
  readonly #url: string;
  readonly #log: Log;
  readonly #channels = new Map<string, Set<OnNotify>>();
  #client: pg.Client | null = null;
  #connecting: Promise<void> | null = null;
  #retry: NodeJS.Timeout | null = null;
  #ping: NodeJS.Timeout | null = null;
  #failures = 0;
  /** When the oldest unanswered ping was sent. */
  #unansweredSince: number | null = null;
  #closed = false;

  constructor(url: string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  isListening(): boolean {
    if (this.#client === null) return false;
    return this.#unansweredSince === null || performance.now() - this.#unansweredSince < SILENCE_MS;
  }

  /** The first call connects and fails when that fails. Later ones never do: while the connection is down, the next one takes them up. */
  async listen(channel: string, onNotify: OnNotify): Promise<() => Promise<void>> {
    if (this.#closed) throw new DatabaseUnavailable('The database is closed.');
    const first = this.#channels.size === 0 && this.#client === null && this.#retry === null;
    const known = this.#channels.get(channel);
    const listeners = known ?? new Set<OnNotify>();
    this.#channels.set(channel, listeners);
    listeners.add(onNotify);
    const stop = async (): Promise<void> => {
      if (!listeners.delete(onNotify) || listeners.size > 0) return;
      this.#channels.delete(channel);
      if (this.#client !== null) await runScript(this.#client, `unlisten ${pg.escapeIdentifier(channel)}`).catch(() => undefined);
    };
    try {
      if (first) this.#connecting ??= this.#connect().finally(() => (this.#connecting = null));
      if (this.#connecting !== null) await this.#connecting;
      if (known === undefined && this.#client !== null) await runScript(this.#client, `listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      if (first) {
        await stop();
        throw error;
      }
    }
    return stop;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#connecting?.catch(() => undefined);
    const client = this.#client;
    this.#forget();
    if (client !== null) await endConnection(client).catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      fallback_application_name: 'tranche listen',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('Connection terminated')));
    client.on('notification', ({ channel, payload }) => {
      for (const onNotify of this.#channels.get(channel) ?? []) onNotify(payload ?? '');
    });
    try {
      await client.connect();
      limitAnswers(client, GIVE_UP_MS);
      await runScript(client, [...this.#channels.keys()].map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join('; '));
    } catch (error) {
      await client.end().catch(() => undefined);
      throw toPortError(error);
    }
    if (this.#closed) {
      await client.end().catch(() => undefined);
      return;
    }
    this.#client = client;
    this.#failures = 0;
    this.#ping = setInterval(() => this.#checkAlive(client), PING_EVERY_MS).unref();
  }

  #checkAlive(client: pg.Client): void {
    if (this.#unansweredSince !== null) return;
    this.#unansweredSince = performance.now();
    runScript(client, 'select 1').then(
      () => (this.#unansweredSince = null),
      (error: Error) => {
        // Where the connection lives on, as when somebody cancels the ping by hand, nothing else would tell.
        this.#lost(client, error);
        endConnection(client).catch(() => undefined);
      },
    );
  }

  #lost(client: pg.Client, error: Error): void {
    if (client !== this.#client) return;
    this.#forget();
    if (this.#closed) return;
    this.#log.warn({ reason: describe(error) }, 'Lost the connection that listens for notifications');
    this.#retryLater();
  }

  #forget(): void {
    if (this.#ping !== null) clearInterval(this.#ping);
    this.#client = null;
    this.#ping = null;
    this.#unansweredSince = null;
  }

  #retryLater(): void {
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#connecting = this.#connect().then(
        () => this.#log.info({}, 'Listening for notifications again'),
        (error: Error) => {
          this.#log.warn({ reason: describe(error) }, 'Cannot listen for notifications yet');
          if (!this.#closed) this.#retryLater();
        },
      );
      this.#connecting.finally(() => (this.#connecting = null)).catch(() => undefined);
    }, delayMs).unref();
  }
}
