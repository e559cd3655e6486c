// One query on one connection, from pg's callback to a promise, and how long its answer may take.
// Knows nothing of statements' names, values or what a failure means.

import type pg from 'pg';

/** How long an answer may take, by connection; one that is not in here waits for ever. */
const answerLimitsMs = new WeakMap<pg.ClientBase, number>();

/** From now on a connection that does not answer for so long is given up: what came before on it might still be carried out. */
export function limitAnswers(client: pg.ClientBase, limitMs: number): void {
  answerLimitsMs.set(client, limitMs);
}

/** Ends the connection, which fails everything else that waits on it. */
function giveUp(client: pg.ClientBase, reject: (error: Error) => void, limitMs: number): void {
  reject(new Error(`no answer came within ${limitMs} ms`));
  (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * Sends a query at once; resolves to its result, or to an array of results where the text holds several statements.
 *
 * pg has a promise and a time limit of its own (`query_timeout`). With either it writes `query.callback = (…) => …`, and a function that is
 * written as the value of an assignment to a property is put among the old objects by V8. What it reaches, the query, its parameters and all
 * rows, then outlives every collection of the young: each thirtieth byte was copied and kept, a full collection came every two or
 * three seconds, and those were the slowest answers. So pg is handed a callback that stands in a variable.
 */
export function ask(client: pg.ClientBase, query: string | pg.QueryConfig): Promise<pg.QueryResult | pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    const limitMs = answerLimitsMs.get(client);
    const timer = limitMs === undefined ? undefined : setTimeout(giveUp, limitMs, client, reject, limitMs);
    const settle = (error: Error | null, result: pg.QueryResult): void => {
      clearTimeout(timer);
      if (error === null) resolve(result);
      else reject(error);
    };
    client.query(query as pg.QueryConfig, settle);
  });
}
