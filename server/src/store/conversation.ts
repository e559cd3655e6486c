// What is asked and answered on one connection, once pg has opened it: statements leave at once and are answered in the order they were sent.
// Knows nothing of pools, of statements' names or of what a failure means.

import type { Duplex } from 'node:stream';
import type pg from 'pg';
import {
  encodeScript,
  encodeStatement,
  HEADER_BYTES,
  isCopy,
  isUnasked,
  messageTypes,
  neededAt,
  readCommand,
  readError,
  readRow,
  readShape,
  type Shape,
} from './protocol.ts';
import { ReadingSocket } from './reading-socket.ts';

export interface Statement {
  readonly text: string;
  /** Under which it is prepared at its first use; left out for a statement that is sent whole each time. */
  readonly name?: string | undefined;
  /** Left out, the text may hold several statements. */
  readonly parameters?: readonly (string | Buffer | null)[] | undefined;
}

export interface Answer {
  /** Of the last statement of the text. */
  readonly rows: Record<string, unknown>[];
  /** What was carried out, such as `SELECT` or `COMMIT`, which is answered with `ROLLBACK` where the transaction had failed. */
  readonly command: string;
}

/** As a server reports it after each answer: outside of a transaction, in one, or in one that has failed. */
type TransactionStatus = 'I' | 'T' | 'E';

/** What was sent and is not answered yet, and what has come of its answer. */
interface Question {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  readonly sentAt: number;
  readonly name: string | null;
  /** False of the first of its name, until the statement is prepared and its rows are described. */
  isDescribed: boolean;
  shape: Shape | null;
  rows: Record<string, unknown>[];
  answer: Answer;
  failure: unknown;
}

const NOTHING: Answer = { rows: [], command: '' };

/**
 * The one invariant: a question is in the line exactly as long as its bytes have gone, or are going, to the server and its answer has not come
 * back. So what comes belongs to the first in line, and ReadyForQuery takes that one out. Why not pg: decision 20.
 */
class Conversation {
  readonly #stream: Duplex;
  /** pg's own reader, which is told what nobody here has asked for. */
  readonly #tellPg: (bytes: Buffer) => void;
  readonly #questions: Question[] = [];
  /** How rows of prepared statements are read; null of one whose description is still to come. */
  readonly #prepared = new Map<string, Shape | null>();
  /** The beginning of a message whose rest is still to come, and how many bytes at least that is. */
  #pieces: Buffer[] = [];
  #missing = 0;
  #isHeldBack = false;
  #limitMs = Number.POSITIVE_INFINITY;
  #watch: NodeJS.Timeout | null = null;
  #lost: Error | null = null;
  status: TransactionStatus = 'I';

  /**
   * At a time when pg waits for nothing. Were the server to say something unasked right then, and the network to cut that in two, then pg
   * would keep the first half, and the time limit end what the second one garbles.
   */
  constructor(stream: Duplex) {
    this.#stream = stream;
    const listeners = stream.listeners('data') as ((bytes: Buffer) => void)[];
    this.#tellPg = (bytes) => {
      for (const listener of listeners) listener(bytes);
    };
    stream.removeAllListeners('data');
    const take = (chunk: Buffer): void => this.#take(chunk);
    if (stream instanceof ReadingSocket) stream.onBytes = take;
    else stream.on('data', take);
    stream.on('error', (error: Error) => this.#lose(error));
    stream.on('close', () => this.#lose(new Error('Connection terminated unexpectedly')));
  }

  get isWaiting(): boolean {
    return this.#questions.length > 0;
  }

  /** From now on it is given up when it has not answered for so long: what came before on it might still be carried out. */
  limitAnswers(limitMs: number): void {
    this.#limitMs = limitMs;
  }

  ask({ text, name, parameters }: Statement): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null || !this.#stream.writable) throw this.#lost ?? new Error('The connection is closed');
      const isKnown = name !== undefined && this.#prepared.has(name);
      // First of all: what cannot be encoded is not asked.
      const message =
        parameters === undefined ? encodeScript(text) : encodeStatement({ name: name ?? '', parameters, text: isKnown ? null : text });
      this.#questions.push({
        resolve,
        reject,
        sentAt: performance.now(),
        name: name ?? null,
        isDescribed: name === undefined || isKnown,
        shape: null,
        rows: [],
        answer: NOTHING,
        failure: null,
      });
      if (name !== undefined && !isKnown) this.#prepared.set(name, null);
      this.#send(message);
      if (this.#limitMs !== Number.POSITIVE_INFINITY) this.#watchFor(this.#limitMs);
    });
  }

  /** Without a word to the server: for a connection of which no answer is expected any more. */
  hangUp(): void {
    this.#stream.destroy();
  }

  /** What is sent within one tick leaves in one write: each of its own is a system call here and wakes the server there. */
  #send(message: Buffer): void {
    if (!this.#isHeldBack) {
      this.#isHeldBack = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#isHeldBack = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(message);
  }

  #watchFor(ms: number): void {
    this.#watch ??= setTimeout(() => this.#look(), ms).unref();
  }

  /** One timer for all questions, which looks when the first of them can be late. */
  #look(): void {
    this.#watch = null;
    const [first] = this.#questions;
    if (first === undefined) return;
    const leftMs = first.sentAt + this.#limitMs - performance.now();
    if (leftMs > 0) return this.#watchFor(Math.ceil(leftMs));
    // Its answer may have come while this process did something else for long: it is read before what is asked for here.
    setImmediate(() => {
      if (this.#questions[0] === first) this.#stream.destroy(new Error(`no answer came within ${this.#limitMs} ms`));
      else if (this.isWaiting) this.#watchFor(this.#limitMs);
    });
  }

  #lose(error: Error): void {
    this.#lost ??= error;
    if (this.#watch !== null) clearTimeout(this.#watch);
    for (const { reject, failure } of this.#questions.splice(0)) reject(failure ?? this.#lost);
  }

  /** The bytes may be used again by whoever hands them over: what is kept of them is copied. */
  #take(chunk: Buffer): void {
    try {
      this.#readAll(chunk);
    } catch (error) {
      this.#stream.destroy(error as Error); // What comes after bytes that are no message cannot be told apart.
    }
  }

  #readAll(chunk: Buffer): void {
    if (chunk.length < this.#missing) {
      this.#pieces.push(Buffer.from(chunk));
      this.#missing -= chunk.length;
      return;
    }
    const bytes = this.#pieces.length === 0 ? chunk : Buffer.concat([...this.#pieces, chunk]);
    this.#pieces = [];
    let at = 0;
    let needed = neededAt(bytes, at);
    for (; needed <= bytes.length - at; needed = neededAt(bytes, at)) {
      this.#read(bytes, at, at + needed);
      at += needed;
    }
    this.#missing = needed - (bytes.length - at);
    if (at < bytes.length) this.#pieces.push(Buffer.from(bytes.subarray(at)));
  }

  /** One whole message. */
  #read(bytes: Buffer, start: number, end: number): void {
    const type = bytes[start] as number;
    const [question] = this.#questions;
    if (question === undefined || isUnasked(type)) this.#tellPg(bytes.subarray(start, end));
    else if (isCopy(type)) {
      question.failure = new Error('The statement copies rows, which cannot be done on this connection.');
      this.hangUp();
    } else if (type === messageTypes.readyForQuery) {
      this.status = String.fromCharCode(bytes[start + HEADER_BYTES] as number) as TransactionStatus;
      this.#questions.shift();
      if (question.failure === null) question.resolve(question.answer);
      else question.reject(question.failure);
    } else this.#note(question, type, bytes, start + HEADER_BYTES, end);
  }

  /** A part of an answer. */
  #note(question: Question, type: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case messageTypes.noData:
        question.isDescribed = true;
        break;
      case messageTypes.rowDescription:
        question.isDescribed = true;
        question.shape = readShape(bytes, start);
        if (question.name !== null) this.#prepared.set(question.name, question.shape);
        break;
      case messageTypes.dataRow:
        this.#noteRow(question, bytes, start);
        break;
      case messageTypes.commandComplete:
      case messageTypes.emptyQuery:
        question.answer = { rows: question.rows, command: readCommand(bytes, start, end) };
        question.rows = [];
        break;
      case messageTypes.errorResponse:
        question.failure ??= readError(bytes, start, end);
        if (!question.isDescribed && question.name !== null) this.#prepared.delete(question.name);
        break;
      default: // It says that all is well, and no more.
    }
  }

  #noteRow(question: Question, bytes: Buffer, start: number): void {
    if (question.failure !== null) return;
    if (question.shape === null && question.name !== null) question.shape = this.#prepared.get(question.name) ?? null;
    try {
      if (question.shape === null) throw new Error('A row came before its description.');
      question.rows.push(readRow(question.shape, bytes, start));
    } catch (error) {
      question.failure = error;
    }
  }
}

const conversations = new WeakMap<pg.ClientBase, Conversation>();

/** From the first call on, pg itself must be asked nothing on this connection but to end it. */
function conversationOn(client: pg.ClientBase): Conversation {
  const known = conversations.get(client);
  if (known !== undefined) return known;
  // pg keeps its stream, which is the encrypted one where there is one, without a type for it.
  const conversation = new Conversation((client as unknown as { readonly connection: { readonly stream: Duplex } }).connection.stream);
  conversations.set(client, conversation);
  return conversation;
}

/** Sends a statement at once, on a connection that pg has opened; resolves once it is answered. */
export const ask = (client: pg.ClientBase, statement: Statement): Promise<Answer> => conversationOn(client).ask(statement);

/** From now on a connection that does not answer for so long is given up. */
export const limitAnswers = (client: pg.ClientBase, limitMs: number): void => conversationOn(client).limitAnswers(limitMs);

/** Whether everything is answered, and outside of a transaction. */
export function isAtRest(client: pg.ClientBase): boolean {
  const { isWaiting, status } = conversationOn(client);
  return !isWaiting && status === 'I';
}

/** Closes a connection: at once where something is still unanswered, since it may never be. */
export async function endConnection(client: pg.Client): Promise<void> {
  const conversation = conversations.get(client);
  if (conversation?.isWaiting === true) conversation.hangUp();
  await client.end();
}
