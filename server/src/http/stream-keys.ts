// Whether the keys of open streams still hold: asked of the database again and again, past any cache.
// Ends what has lost its key through the function it is handed; writes to no connection.

import { refuseKey } from '../domain/api-key.ts';
import type { KeyValidity, RecordKey } from '../store/records.ts';
import type { Caller } from './route.ts';

export type FindKeys = (keys: readonly RecordKey[]) => Promise<readonly KeyValidity[]>;

export interface KeyWatch {
  /** Asks the database and ends the streams whose key does not hold any more. Calls that overlap are one. */
  check(): Promise<void>;
  /** How old the last answer is. */
  ageMs(): number;
}

/** A session is open in one workspace and not in another. */
const nameOf = (workspaceId: string, keyId: string): string => `${workspaceId}:${keyId}`;

/** Asks anew for every answer, past any cache: a stream outlives the check that admitted it. */
export function createKeyWatch<Holder extends { readonly caller: Caller }>({
  findKeys,
  now,
  streams,
  end,
}: {
  findKeys: FindKeys;
  now: () => number;
  streams: ReadonlySet<Holder>;
  end: (stream: Holder, reason: string) => void;
}): KeyWatch {
  let askedAt = 0;
  let running: Promise<void> | null = null;
  let isAskedAgain = false;

  async function ask(): Promise<void> {
    do {
      isAskedAgain = false;
      const at = now();
      const asked = [...streams];
      const wanted = new Map(
        asked.map(({ caller }) => [nameOf(caller.workspaceId, caller.keyId), { workspaceId: caller.workspaceId, id: caller.keyId }]),
      );
      const found = new Map((await findKeys([...wanted.values()])).map((key) => [nameOf(key.workspaceId, key.id), key]));
      for (const stream of asked) {
        const key = found.get(nameOf(stream.caller.workspaceId, stream.caller.keyId));
        if (key === undefined || refuseKey(key, new Date(now())) !== null) end(stream, 'the key does not hold any more');
      }
      askedAt = at;
    } while (isAskedAgain);
  }

  return {
    check() {
      // The question under way may have been asked before what the caller heard of.
      if (running !== null) isAskedAgain = true;
      running ??= ask().finally(() => {
        running = null;
      });
      return running;
    },
    ageMs: () => now() - askedAt,
  };
}
