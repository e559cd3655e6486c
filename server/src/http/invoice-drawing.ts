// Invoices drawn one after the other, within bounds: drawing takes the event loop, and everybody else would wait for who asks for many.
// A logo that cannot be drawn is left out; an invoice is never out of reach because of it.

import { setTimeout as pause } from 'node:timers/promises';
import type { InvoiceDocument } from '../documents/invoice-page.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';

/** Drawn or waiting in this process, and of one workspace: some 15 ms each, and 140 ms with the largest logo that can be seen through. */
export const MAX_DRAWINGS = 32;
export const MAX_DRAWINGS_PER_WORKSPACE = 8;

export type DrawInvoice = (document: InvoiceDocument) => Promise<Buffer | Refusal>;

export interface DrawingOptions {
  readonly draw: (document: InvoiceDocument) => Promise<Buffer>;
  readonly log: { warn(fields: object, message: string): void };
}

const TOO_MANY: Refusal = {
  code: 'too_many_exports',
  detail: `At most ${MAX_DRAWINGS_PER_WORKSPACE} invoices of a workspace, and ${MAX_DRAWINGS} in all, are drawn or wait for it at once.`,
};

export function createInvoiceDrawing({ draw, log }: DrawingOptions): DrawInvoice {
  const taken = new Map<Uuid, number>();
  let total = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function drawWithOrWithoutLogo(document: InvoiceDocument): Promise<Buffer> {
    const { invoice, letterhead } = document;
    try {
      return await draw(document);
    } catch (error) {
      if (letterhead.logo === null) throw error;
      log.warn({ err: error, invoiceId: invoice.id }, 'an invoice was drawn without its logo, which cannot be drawn');
      return draw({ invoice, letterhead: { ...letterhead, logo: null } });
    }
  }

  /** After those that came before, whatever became of them, and as long again: at least half of the time is left for everything else. */
  function inTurn(document: InvoiceDocument): Promise<Buffer> {
    let beganMs = 0;
    const drawn = last.then(() => {
      beganMs = performance.now();
      return drawWithOrWithoutLogo(document);
    });
    const rest = (): Promise<void> => pause(performance.now() - beganMs);
    last = drawn.then(rest, rest);
    return drawn;
  }

  return async (document) => {
    const { workspaceId } = document.invoice;
    const own = taken.get(workspaceId) ?? 0;
    if (total >= MAX_DRAWINGS || own >= MAX_DRAWINGS_PER_WORKSPACE) return TOO_MANY;
    total += 1;
    taken.set(workspaceId, own + 1);
    try {
      return await inTurn(document);
    } finally {
      total -= 1;
      const left = (taken.get(workspaceId) as number) - 1;
      if (left === 0) taken.delete(workspaceId);
      else taken.set(workspaceId, left);
    }
  };
}
