// Which workspace this tab works in. Each tab keeps its own; a new one begins with the last that was chosen anywhere.
// Remembers an id only; whether the person may use it, the server says.

const NAME = 'tranche.workspace';

/** Where a browser forbids storage, the choice lasts as long as the page. */
let held: string | null = null;

export function chosenWorkspace(): string | null {
  try {
    held = sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME) ?? held;
  } catch {}
  return held;
}

const listeners = new Set<() => void>();

/** Calls `listener` after each choice. Returns what ends that. */
export function onWorkspaceChosen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function chooseWorkspace(id: string): void {
  // A choice is also corrected while the page is drawn, when nothing may be drawn anew yet.
  queueMicrotask(() => {
    for (const listener of listeners) listener();
  });
  held = id;
  try {
    sessionStorage.setItem(NAME, id);
    localStorage.setItem(NAME, id);
  } catch {}
}
