// A form that is being sent: whether it is under way, and the error it came back with.
// Knows no field.

import { type FormEvent, useState } from 'react';

export interface Submission {
  readonly isBusy: boolean;
  readonly error: unknown;
  /** For `onSubmit` of the form. */
  readonly submit: (event: FormEvent) => void;
}

export function useSubmission(send: () => Promise<void>): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function carryOut(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await send();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!isBusy) void carryOut();
  }
  return { isBusy, error, submit };
}
