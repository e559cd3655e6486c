// What the form of the settings sends: only what was changed, and an emptied field as null.

import { expect, test } from 'vitest';
import type { Workspace } from '../../client/sdk.ts';
import { draftOf, prefixProblem, updateOf } from './settings-draft.ts';

const workspace: Workspace = {
  id: 'wsp_1',
  object: 'workspace',
  name: 'Acme Works',
  legal_name: null,
  address_lines: ['Street 1', 'City'],
  tax_id: 'DE1',
  logo: null,
  default_currency: 'EUR',
  invoice_prefix: 'INV-',
  tax_line: null,
  timezone: 'UTC',
  version: 1,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-02T09:30:00.000Z',
};

test('nothing is sent where nothing was changed, spaces at the ends included', () => {
  expect(
    updateOf({ ...draftOf(workspace), name: ' Acme Works ', legal_name: '  ', address: 'Street 1\n\n City \n' }, workspace),
  ).toBeNull();
});

test('only what was changed is sent, and an emptied field as null', () => {
  const draft = { ...draftOf(workspace), tax_id: '', address: 'Street 2', logo: { data: 'AA==', content_type: 'image/png' as const } };
  expect(updateOf(draft, workspace)).toEqual({ tax_id: null, address_lines: ['Street 2'], logo: { data: 'AA==' } });
});

test('a prefix is refused for what the server refuses it', () => {
  for (const good of ['INV-', 'A', 'a/b.c_', '2026-', `${'a'.repeat(19)}-`]) expect(prefixProblem(good)).toBeNull();
  for (const bad of ['', 'INV7', '-A-', 'Ä-', 'A B-', `${'a'.repeat(20)}-`]) expect(prefixProblem(bad)).not.toBeNull();
});
