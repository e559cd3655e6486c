// What an area of the dashboard brings along beside its routes: entries of the menu, keys, commands, and how its records are found.
// Types only; app/areas.ts lists the areas.

import type { Account, Scope } from '../client/sdk.ts';
import type { IconName } from '../ui/icon.tsx';

export interface NavEntry {
  readonly label: string;
  /** The path of one of the area's routes. */
  readonly to: string;
  readonly icon: IconName;
  /** Pressed after `g`: `p` makes `g p`. One lower-case letter, each once over all areas (a test looks). */
  readonly key?: string;
  /** Shown only to roles that hold it. */
  readonly scope?: Scope;
}

export interface CommandContext {
  /** Goes to a path of the dashboard, with its search: `/projects?new=1`. */
  readonly go: (href: string) => void;
}

export interface Command {
  readonly label: string;
  /** Other words under which it is found. */
  readonly words?: string;
  readonly icon?: IconName;
  readonly scope?: Scope;
  /** Shown only to people of whom it says so, where that is no matter of their role. */
  readonly isFor?: (account: Account) => boolean;
  readonly run: (context: CommandContext) => void;
}

export interface FoundRecord {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly href: string;
}

export interface Area {
  /** The heading in the menu; null stands at the top without one. */
  readonly group: string | null;
  readonly nav: readonly NavEntry[];
  readonly commands?: readonly Command[];
  /** The page of a record by the prefix of its id: `{ prj: (id) => '/projects/' + id }`. */
  readonly records?: Readonly<Record<string, (id: string) => string>>;
  /** Finds records by words, for the command palette. */
  readonly find?: (text: string, signal: AbortSignal) => Promise<readonly FoundRecord[]>;
}
