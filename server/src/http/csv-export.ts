// A list of any size as a CSV file: read page by page by keyset, each page written before the next one is read.
// Never holds a transaction or cursor open, never more than a page in memory, and ends when its reader goes.

import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { refuseKey } from '../domain/api-key.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { type Columns, csvHeader, csvWriter } from '../schemas/csv.ts';
import type { Page } from '../store/lists.ts';
import type { Caller, StreamAnswer } from './route.ts';
import type { FindKeys } from './stream-keys.ts';

export interface ExportSource<Entity> {
  /** What the file is called, without its ending. */
  readonly name: string;
  readonly columns: Columns<Entity>;
  readonly readPage: (page: { readonly limit: number; readonly startingAfter?: Uuid | undefined }) => Promise<Page<Entity>>;
}

export type OpenExport = <Entity extends { readonly id: Uuid }>(
  caller: Pick<Caller, 'workspaceId' | 'keyId'>,
  source: ExportSource<Entity>,
) => Promise<StreamAnswer | Refusal>;

export interface ExportOptions {
  readonly now: () => Date;
  /** Whether keys and sessions still hold, past any cache. */
  readonly findCallers: FindKeys;
  readonly log: { warn(fields: object, message: string): void };
}

/** Records of one page: some 100 KB of text, and a query of a few milliseconds. */
export const EXPORT_PAGE = 500;
/** Exports under way in this process, and of one workspace: each keeps a page in memory and a connection busy now and then. */
export const MAX_EXPORTS = 16;
export const MAX_EXPORTS_PER_WORKSPACE = 4;
/** How long a reader may take no more bytes. */
const STALL_TIMEOUT_MS = 30_000;
/** How old the word that the caller is still let in may be when a page is written: a key, a session or a membership may end meanwhile. */
export const RECHECK_MS = 500;

export interface Exports {
  readonly open: OpenExport;
  /** Cuts those that are under way, so that a stop need not wait for them. */
  close(): void;
}

export function createExports({ now, findCallers, log }: ExportOptions): Exports {
  const underWay = new Set<ServerResponse>();
  const taken = new Map<Uuid, number>();
  let total = 0;

  function enter(workspaceId: Uuid): void {
    total += 1;
    taken.set(workspaceId, (taken.get(workspaceId) ?? 0) + 1);
  }

  function leave(workspaceId: Uuid): void {
    total -= 1;
    const left = (taken.get(workspaceId) ?? 1) - 1;
    if (left === 0) taken.delete(workspaceId);
    else taken.set(workspaceId, left);
  }

  /** Asks again whenever the last answer is too old. */
  function admissionOf({ workspaceId, keyId }: Pick<Caller, 'workspaceId' | 'keyId'>): () => Promise<boolean> {
    let askedAtMs = now().getTime();
    return async () => {
      const at = now();
      if (at.getTime() - askedAtMs < RECHECK_MS) return true;
      askedAtMs = at.getTime();
      const [key] = await findCallers([{ workspaceId, id: keyId }]);
      return key !== undefined && refuseKey(key, at) === null;
    };
  }

  return {
    async open(caller, source) {
      const { workspaceId } = caller;
      if (total >= MAX_EXPORTS || (taken.get(workspaceId) ?? 0) >= MAX_EXPORTS_PER_WORKSPACE) return TOO_MANY;
      // Read before the head is written, so that a database out of reach is a proper refusal.
      enter(workspaceId);
      const isAdmitted = admissionOf(caller);
      const first = await source.readPage({ limit: EXPORT_PAGE }).finally(() => leave(workspaceId));
      const file = `${source.name}-${now().toISOString().slice(0, 10)}.csv`;
      return {
        headers: { 'content-disposition': `attachment; filename="${file}"` },
        stream(response) {
          enter(workspaceId);
          underWay.add(response);
          writeExport(response, source, first, isAdmitted)
            .catch((error: unknown) => {
              // The head is out: what is left is to cut the connection, so that nobody takes the file for whole.
              if (error === NOT_ADMITTED)
                log.warn({ workspaceId, keyId: caller.keyId }, 'an export was cut: its key, session or membership has ended');
              else log.warn({ err: error }, 'an export could not be finished');
              response.destroy();
            })
            .finally(() => {
              underWay.delete(response);
              leave(workspaceId);
            });
        },
      };
    },
    close() {
      for (const response of underWay) response.destroy();
    },
  };
}

const TOO_MANY: Refusal = {
  code: 'too_many_exports',
  detail: `At most ${MAX_EXPORTS_PER_WORKSPACE} exports of a workspace, and ${MAX_EXPORTS} in all, are under way at once.`,
};

const NOT_ADMITTED = new Error('who asked for the export is not let in any more');

async function writeExport<Entity extends { readonly id: Uuid }>(
  response: ServerResponse,
  source: ExportSource<Entity>,
  first: Page<Entity>,
  isAdmitted: () => Promise<boolean>,
): Promise<void> {
  // A reader that goes is no fault of ours; the loop sees that the response is destroyed.
  response.on('error', () => undefined);
  const writeLine = csvWriter(source.columns);
  response.write(csvHeader(source.columns));
  for (let page = first; ; ) {
    if (!(await isAdmitted())) throw NOT_ADMITTED;
    if (response.destroyed) return;
    const isTaken = response.write(page.records.map(writeLine).join(''));
    if (!isTaken && !(await drained(response))) return;
    const last = page.records.at(-1);
    if (!page.hasMore || last === undefined) break;
    // The embedded database answers without leaving the event loop, and others would wait until the file is written.
    await turn();
    page = await source.readPage({ limit: EXPORT_PAGE, startingAfter: last.id });
    if (response.destroyed) return;
  }
  response.end();
}

/** Resolves when the reader has taken what was written; false when it has gone or takes nothing any more. */
function drained(response: ServerResponse): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stalled = setTimeout(() => response.destroy(), STALL_TIMEOUT_MS);
    const end = (isTaken: boolean): void => {
      clearTimeout(stalled);
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(isTaken);
    };
    const onDrain = (): void => end(true);
    const onClose = (): void => end(false);
    response.on('drain', onDrain);
    response.on('close', onClose);
  });
}
