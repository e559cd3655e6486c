// When each key was last used: collected in memory and written in bulk now and then, so that reading never waits for it.
// Losing the last half minute in a crash loses nothing that counts.

import type { Uuid } from '../domain/ids.ts';

export const FLUSH_INTERVAL_MS = 30_000;
/** Uses that wait to be written; beyond it the database has been away for long and new keys are left out. */
export const MAX_WAITING = 50_000;

export interface KeyUse {
  readonly workspaceId: Uuid;
  readonly keyId: Uuid;
  readonly usedAt: Date;
}

export interface KeyUses {
  record(workspaceId: Uuid, keyId: Uuid, atMs: number): void;
  /** Writes what is waiting. Called by the timer, and once more at shutdown. */
  flush(): Promise<void>;
  /** Begins to flush every half minute; the returned function ends that and flushes a last time. */
  start(): () => Promise<void>;
}

export interface KeyUsesOptions {
  /** Writes the uses, one row a key, never moving a time backwards. */
  readonly touch: (uses: readonly KeyUse[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export function createKeyUses({ touch, onError }: KeyUsesOptions): KeyUses {
  let uses = new Map<Uuid, { readonly workspaceId: Uuid; at: number }>();

  function record(workspaceId: Uuid, keyId: Uuid, atMs: number): void {
    const use = uses.get(keyId);
    if (use !== undefined) use.at = Math.max(use.at, atMs);
    else if (uses.size < MAX_WAITING) uses.set(keyId, { workspaceId, at: atMs });
  }

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const written = uses;
    uses = new Map();
    try {
      await touch([...written].map(([keyId, { workspaceId, at }]) => ({ workspaceId, keyId, usedAt: new Date(at) })));
    } catch (error) {
      onError(error);
      for (const [keyId, { workspaceId, at }] of written) record(workspaceId, keyId, at);
    }
  }

  return {
    record,
    flush,
    start() {
      const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS);
      timer.unref();
      return async () => {
        clearInterval(timer);
        await flush();
      };
    },
  };
}
