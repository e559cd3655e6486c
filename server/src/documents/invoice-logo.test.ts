// Every image that is taken for a logo can be drawn: images are spoiled in all ways, and what is still taken goes through the real renderer.
// A fault in it would surface as a rejection here, or end the run as an uncaught exception.

import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jpegOf, jpegSegment, PNG_SIGNATURE, pngChunk, pngOf } from '../../test/support/pictures.ts';
import { readLogo } from '../domain/logo.ts';
import { drawInvoice, type InvoiceDocument } from './invoice-page.ts';

const id = '01993c5a-8f00-7000-8000-000000000001';
const at = new Date('2026-03-20T08:00:00Z');
const lines = [{ milestoneId: id, description: 'Design', amountMinor: 1n }];
const documentWith = (logo: InvoiceDocument['letterhead']['logo']): InvoiceDocument => ({
  invoice: {
    ...{ id, workspaceId: id, number: 42, projectId: id, milestoneId: id, paymentId: id, clientId: 'c', status: 'issued' },
    ...{ paymentStatus: 'unpaid', lines, subtotalMinor: 1n, taxMinor: 0n, totalMinor: 1n, currency: 'EUR', paidAt: null, createdAt: at },
  },
  letterhead: {
    ...{ name: 'Acme', legalName: null, addressLines: [], taxId: null, logo, invoicePrefix: 'A-', taxLine: null, timezone: 'UTC' },
  },
});

/** As many images of a run must be taken, or it would show nothing. */
const RUNS = 400;
const LEAST_TAKEN = 20;

async function drawsAllThatAreTaken(images: fc.Arbitrary<Buffer>): Promise<void> {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(images, async (image) => {
      const logo = readLogo(image);
      if (logo === null) return;
      taken += 1;
      // What is kept is a logo too, and the same one.
      expect(readLogo(logo.data)?.hash).toEqual(logo.hash);
      expect((await drawInvoice(documentWith(logo))).toString('latin1')).toContain('/Subtype /Image');
    }),
    { numRuns: RUNS },
  );
  expect(taken).toBeGreaterThan(LEAST_TAKEN);
}

interface Chunk {
  readonly type: string;
  readonly content: Buffer;
}

/** The chunks of a PNG between its signature and its end. */
function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let place = 8; place < png.length; ) {
    const end = place + 12 + png.readUInt32BE(place);
    chunks.push({ type: png.toString('latin1', place + 4, place + 8), content: png.subarray(place + 8, end - 4) });
    place = end;
  }
  return chunks;
}

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const places = fc.nat(60);
const types = ['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'tEXt', 'zTXt', 'iCCP', 'gAMA', 'acTL', 'fcTL', 'fdAT', 'pHYs', 'ABCD'];
type Spoil = (chunks: Chunk[]) => Chunk[];

const spoils: fc.Arbitrary<Spoil> = fc.oneof(
  fc.tuple(fc.constantFrom(...types), bytes(30), places).map(
    ([type, content, place]): Spoil =>
      (chunks) =>
        chunks.toSpliced(place % (chunks.length + 1), 0, { type, content }),
  ),
  fc.tuple(places, places, fc.nat(255)).map(
    ([which, place, byte]): Spoil =>
      (chunks) =>
        chunks.map((chunk, i) => {
          if (i !== which % chunks.length || chunk.content.length === 0) return chunk;
          const content = Buffer.from(chunk.content);
          content[place % content.length] = byte;
          return { ...chunk, content };
        }),
  ),
  fc.tuple(places, places).map(
    ([which, place]): Spoil =>
      (chunks) =>
        chunks.flatMap((chunk, i) => {
          if (i !== which % chunks.length) return [chunk];
          const cut = place % (chunk.content.length + 1);
          return [
            { ...chunk, content: chunk.content.subarray(0, cut) },
            { ...chunk, content: chunk.content.subarray(cut) },
          ];
        }),
  ),
  places.map(
    (which): Spoil =>
      (chunks) =>
        chunks.toSpliced(which % chunks.length, 1),
  ),
);

const seeThrough = Buffer.concat([pngChunk('PLTE', Buffer.alloc(300, 7)), pngChunk('tRNS', Buffer.alloc(50, 9))]);
const pngs = fc
  .tuple(fc.constantFrom(0, 2, 3, 4, 6, 'see-through' as const), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
  .map(([colour, width, height]) =>
    colour === 'see-through' ? pngOf(width, height, { colour: 3, before: seeThrough }) : pngOf(width, height, { colour: colour as 0 }),
  );

test('every PNG that is taken for a logo is drawn, whatever chunks and bytes it has', () =>
  drawsAllThatAreTaken(
    fc.tuple(pngs, fc.array(spoils, { maxLength: 3 })).map(([png, changes]) => {
      const chunks = changes.reduce((spoiled, spoil) => spoil(spoiled), chunksOf(png));
      return Buffer.concat([PNG_SIGNATURE, ...chunks.map(({ type, content }) => pngChunk(type, content))]);
    }),
  ));

const segments = fc.tuple(fc.integer({ min: 0xc0, max: 0xff }), bytes(30)).map(([marker, content]) => jpegSegment(marker, content));
/** Where segments may stand: behind the beginning, the frame, the scan; and anywhere. */
const seams = fc.oneof(fc.constantFrom(2, 15, 26), fc.nat(30));

test('every JPEG that is taken for a logo is drawn, whatever segments and bytes it has', () =>
  drawsAllThatAreTaken(
    fc
      .tuple(
        fc.array(fc.tuple(seams, fc.oneof(segments, bytes(6))), { maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 2 }),
        fc.option(fc.nat(60)),
      )
      .map(([added, changed, cutAt]) => {
        let image = jpegOf(8, 8);
        for (const [place, segment] of added) image = Buffer.concat([image.subarray(0, place), segment, image.subarray(place)]);
        for (const [place, byte] of changed) image[place % image.length] = byte;
        return cutAt === null || cutAt >= image.length ? image : Buffer.concat([image.subarray(0, cutAt), Buffer.from([0xff, 0xd9])]);
      }),
  ));

test.each([
  ['a JPEG without a frame', Buffer.from('ffd8ffd9', 'hex'), 'image/jpeg'],
  ['a PNG whose pixels do not unfold', pngOf(3, 3, { colour: 6, pixels: Buffer.alloc(0) }), 'image/png'],
  ['a PNG of 16 bits', pngOf(3, 3, { depth: 16, pixels: deflateSync(Buffer.alloc(9)) }), 'image/png'],
] as const)('%s, kept by an earlier version, fails the drawing that it is in and nothing else', async (_what, data, contentType) => {
  const logo = { data, contentType, width: 3, height: 3, hash: Buffer.alloc(32) };
  await expect(drawInvoice(documentWith(logo))).rejects.toThrow(/logo/);
});
