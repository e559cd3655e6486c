// What the supervisor and its workers say to each other over their pipe. Data only.
// Knows no process, no clock and nothing of what is served.

import type { Report } from '../operations/operating.ts';

export type FromWorker =
  /** It listens and can work; from here on it is given connections. */
  | { readonly kind: 'ready' }
  /** It will never be: the configuration or its surroundings are wrong, and another start would end the same. */
  | { readonly kind: 'unfit'; readonly message: string }
  /** Its part that delivers webhooks hangs: another process should take its place. */
  | { readonly kind: 'hangs' }
  /** Somebody asked it for metrics on the main port, and only the supervisor knows those of all. */
  | { readonly kind: 'wants metrics'; readonly id: number }
  | { readonly kind: 'report'; readonly id: number; readonly report: Report };

export type ToWorker =
  /** Another one has taken its place: take no more connections, finish what there is, end. */
  | { readonly kind: 'retire' }
  | { readonly kind: 'report'; readonly id: number; readonly withMetrics: boolean }
  /** The answer to "wants metrics"; null when they could not be had. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string | null };
