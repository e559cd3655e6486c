// Lets answers that are ready at the same time leave one right after the other.
// Knows nothing of what they say: their heads are written already.

import type { ServerResponse } from 'node:http';

export type End = (response: ServerResponse, text: string | null) => void;

/**
 * Ends each response with its text once everything that is ready now has been made into an answer: the answers of one query then leave
 * together. Ended one by one as they are made, each would find its receiver asleep and pay for waking it.
 *
 * Only for answers that were waited for: while Node parses a packet no microtask runs, and if what follows in it is broken, an answer to
 * what came before has to have left.
 */
export function createDeparture(): End {
  let responses: ServerResponse[] = [];
  let texts: (string | null)[] = [];

  function depart(): void {
    const [ended, endings] = [responses, texts];
    responses = [];
    texts = [];
    for (const [i, response] of ended.entries()) response.end(endings[i] ?? undefined);
  }

  return (response, text) => {
    texts.push(text);
    // A microtask comes after those of the answers that became ready with this one.
    if (responses.push(response) === 1) queueMicrotask(depart);
  };
}
