// How invoices are drawn side by side: one at a time, so many waiting, and never failing for a logo. Drawing itself is the test's own.

import { expect, test } from 'vitest';
import type { InvoiceDocument } from '../documents/invoice-page.ts';
import { createInvoiceDrawing, MAX_DRAWINGS, MAX_DRAWINGS_PER_WORKSPACE } from './invoice-drawing.ts';

const documentOf = (workspaceId: string, logo: object | null = null) =>
  ({ invoice: { id: 'invoice', workspaceId }, letterhead: { logo } }) as unknown as InvoiceDocument;

function drawing(draw: (document: InvoiceDocument) => Promise<Buffer>) {
  const warnings: string[] = [];
  return { warnings, drawInvoice: createInvoiceDrawing({ draw, log: { warn: (_fields, message) => warnings.push(message) } }) };
}
const isRefused = (answer: object): boolean => 'code' in answer && answer.code === 'too_many_exports';

test('invoices are drawn one at a time; beyond the bounds of a workspace and of the process they are refused, and room comes back', async () => {
  let [now, most] = [0, 0];
  const { drawInvoice } = drawing(async () => {
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    now -= 1;
    return Buffer.from('%PDF');
  });
  const workspaces = Array.from({ length: 6 }, (_, n) => `w${n}`);
  const all = () =>
    Promise.all(workspaces.flatMap((id) => Array.from({ length: MAX_DRAWINGS_PER_WORKSPACE + 1 }, () => drawInvoice(documentOf(id)))));
  for (let round = 0; round < 2; round++) {
    const refused = (await all()).map(isRefused);
    expect(refused.filter((is) => !is)).toHaveLength(MAX_DRAWINGS);
    expect(refused.slice(0, MAX_DRAWINGS_PER_WORKSPACE + 1).filter(Boolean)).toHaveLength(1);
  }
  expect(most).toBe(1);
});

test('drawing takes at most half of the time, so that a process that draws without end goes on serving', async () => {
  const DRAW_MS = 20;
  let drewMs = 0;
  const { drawInvoice } = drawing(async () => {
    const began = performance.now();
    while (performance.now() - began < DRAW_MS);
    drewMs += performance.now() - began;
    return Buffer.from('%PDF');
  });
  const began = performance.now();
  await Promise.all(Array.from({ length: 5 }, () => drawInvoice(documentOf('w'))));
  // The first draws at once, and the rest after the last is nobody's wait.
  expect(performance.now() - began).toBeGreaterThan((2 * drewMs * 4) / 5);
});

test('a logo that cannot be drawn is left out with a warning; what fails without one fails, and holds up nobody', async () => {
  const { warnings, drawInvoice } = drawing(async ({ invoice, letterhead }) => {
    if (letterhead.logo !== null || invoice.workspaceId === 'broken') throw 'Invalid JPEG.';
    return Buffer.from('%PDF');
  });
  const answers = await Promise.allSettled([
    drawInvoice(documentOf('w', {})),
    drawInvoice(documentOf('broken')),
    drawInvoice(documentOf('w')),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(warnings).toHaveLength(1);
});
