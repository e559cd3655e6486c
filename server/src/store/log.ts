// What the store asks of a logger: pino's, narrowed to what is used here.
// Types only.

import type { BaseLogger } from 'pino';

export type Log = Pick<BaseLogger, 'info' | 'warn' | 'error'>;
