// One idempotency key for one intention: pressing twice, or once more after the connection was lost, does it once.
// A changed body is another intention and gets a key of its own.

import { useRef } from 'react';

/** `const keyFor = useAttemptKey()` in a dialog; `keyFor(body)` is the same for as long as the dialog is open and says the same. */
export function useAttemptKey(): (body: unknown) => string {
  const made = useRef(new Map<string, string>());
  return (body) => {
    const text = JSON.stringify(body);
    const key = made.current.get(text) ?? crypto.randomUUID();
    made.current.set(text, key);
    return key;
  };
}
