// What a resting loop is woken by. A ring while nobody waits is kept for the next wait, so that none is missed.
// Knows nothing of webhooks.

export interface Bell {
  ring(): void;
  /** Waits for a ring; one since the last wait counts. Returns false when the time was over first. */
  wait(timeoutMs: number): Promise<boolean>;
}

export function createBell(): Bell {
  let rung = false;
  let wakeUp: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wakeUp?.();
    },
    async wait(timeoutMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wakeUp = null;
      }
      const wasRung = rung;
      rung = false;
      return wasRung;
    },
  };
}
