// Sending something from a form or by a button: busy while it is under way, and the error where it failed.
// Keeps no answer: what is secret in one stays where it is shown.

import { useState } from 'react';

export interface Submission {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Does it, unless it is under way already. What fails is kept as the error. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>;
  readonly forget: () => void;
}

export function useSubmission(): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function run(work: () => Promise<unknown>): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, error, run, forget: () => setError(null) };
}
