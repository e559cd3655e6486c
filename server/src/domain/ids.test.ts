// Identifiers: they sort by creation, survive the way out and back, and nothing else passes for one.

import { randomFillSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createIdGenerator, decodeId, encodeId, type IdKind, idPrefixes } from './ids.ts';

const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
});

test('every UUID survives encoding and decoding, and keeps its order', () => {
  fc.assert(
    fc.property(uuid, uuid, (a, b) => {
      expect(decodeId('project', encodeId('project', a))).toBe(a);
      expect(encodeId('project', a) < encodeId('project', b)).toBe(a < b);
    }),
  );
});

test('matches the vectors of the TypeID specification', () => {
  expect(encodeId('project', '00000000-0000-0000-0000-000000000000')).toBe('prj_00000000000000000000000000');
  expect(encodeId('project', '00000000-0000-0000-0000-000000000020')).toBe('prj_00000000000000000000000010');
  expect(encodeId('project', 'ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('prj_7zzzzzzzzzzzzzzzzzzzzzzzzz');
  expect(encodeId('project', '01890a5d-ac96-774b-bcce-b302099a8057')).toBe('prj_01h455vb4pex5vsknk084sn02q');
});

test.each([
  '',
  'prj_',
  'prj',
  'prj_0000000000000000000000000',
  'prj_000000000000000000000000000',
  'prj_80000000000000000000000000',
  'prj_0000000000000000000000000I',
  'prj_0000000000000000000000000u',
  'PRJ_00000000000000000000000000',
  'prj_0000000000000000000000000é',
  'prj-00000000000000000000000000',
  '00000000-0000-0000-0000-000000000000',
  'prj_00000000000000000000000A00',
  'mil_00000000000000000000000000',
])('%j is not the id of a project', (text) => {
  expect(decodeId('project', text)).toBeNull();
});

test('an id of one kind is none of another', () => {
  for (const kind of Object.keys(idPrefixes) as IdKind[]) {
    for (const other of Object.keys(idPrefixes) as IdKind[]) {
      const text = encodeId(kind, '01890a5d-ac96-774b-bcce-b302099a8057');
      expect(decodeId(other, text) === null).toBe(kind !== other);
    }
  }
});

test('ids sort by creation even when a burst outruns the millisecond or the clock goes back', () => {
  let clock = 1_700_000_000_000;
  const newId = createIdGenerator(
    () => clock,
    (bytes) => randomFillSync(bytes),
  );
  const ids: string[] = [];
  for (let i = 0; i < 20_000; i++) {
    if (i === 10_000) clock -= 5_000;
    if (i === 15_000) clock += 60_000;
    ids.push(newId());
  }
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
