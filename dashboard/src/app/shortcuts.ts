// The keys of the dashboard: single ones, and pairs that begin with `g`. Pages add theirs while they are shown.
// Hears keys only where nobody is writing.

import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface Shortcut {
  /** As it is pressed: `?`, `n`, `g p`, `mod+k`. */
  readonly keys: string;
  readonly label: string;
}

interface Registered extends Shortcut {
  readonly run: () => void;
}

let registered: readonly Registered[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Registered[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

/** How long the second key of a pair is waited for. */
const PAIR_MS = 1_200;

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Hears the keys of the whole page. Returns what ends that. */
export function listenForKeys(page: Document): () => void {
  let first = '';
  let pressedAtMs = 0;
  function press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || event.key === undefined) return;
    const isCommand = event.metaKey || event.ctrlKey;
    if (event.altKey || (!isCommand && (isWriting(event.target) || page.querySelector('[aria-modal="true"]') !== null))) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const keys = isCommand ? `mod+${key}` : first !== '' && event.timeStamp - pressedAtMs < PAIR_MS ? `${first} ${key}` : key;
    const found = registered.findLast((one) => one.keys === keys);
    first = '';
    if (found !== undefined) {
      event.preventDefault();
      found.run();
    } else if (!isCommand && registered.some((one) => one.keys.startsWith(`${key} `))) {
      first = key;
      pressedAtMs = event.timeStamp;
    }
  }
  page.addEventListener('keydown', press);
  return () => page.removeEventListener('keydown', press);
}

export function addShortcuts(more: readonly Registered[]): () => void {
  change([...registered, ...more]);
  return () => change(registered.filter((one) => !more.includes(one)));
}

/** A key of this page while it is shown: `useShortcut('n', 'New project', open)`. */
export function useShortcut(keys: string, label: string, run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => addShortcuts([{ keys, label, run: () => latest.current() }]), [keys, label]);
}

/** Every key that does something now. */
export function useShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    () => registered,
  );
}
