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

export function chooseWorkspace(id: string): void {
  held = id;
  try {
    sessionStorage.setItem(NAME, id);
    localStorage.setItem(NAME, id);
  } catch {}
}
