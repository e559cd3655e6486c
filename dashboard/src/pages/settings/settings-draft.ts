// The settings as they stand in the form, and what of them differs from the server's: only that is sent.
// Pure.

import type { Workspace, WorkspaceLogo, WorkspaceUpdate } from '../../client/sdk.ts';

export interface SettingsDraft {
  readonly name: string;
  readonly legal_name: string;
  /** One line of the address to a line of the field. */
  readonly address: string;
  readonly tax_id: string;
  readonly logo: Pick<WorkspaceLogo, 'data' | 'content_type'> | null;
  readonly default_currency: string;
  readonly invoice_prefix: string;
  readonly tax_line: string;
  readonly timezone: string;
}

export const draftOf = (workspace: Workspace): SettingsDraft => ({
  name: workspace.name,
  legal_name: workspace.legal_name ?? '',
  address: workspace.address_lines.join('\n'),
  tax_id: workspace.tax_id ?? '',
  logo: workspace.logo,
  default_currency: workspace.default_currency,
  invoice_prefix: workspace.invoice_prefix,
  tax_line: workspace.tax_line ?? '',
  timezone: workspace.timezone,
});

export const linesOf = (address: string): string[] =>
  address
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** What to send: the fields that were changed, an emptied one as null. Null where nothing was. */
export function updateOf(draft: SettingsDraft, workspace: Workspace): WorkspaceUpdate | null {
  const before = draftOf(workspace);
  const update: { -readonly [Name in keyof WorkspaceUpdate]: WorkspaceUpdate[Name] } = {};
  for (const name of ['name', 'default_currency', 'invoice_prefix', 'timezone'] as const)
    if (draft[name].trim() !== before[name]) update[name] = draft[name].trim();
  for (const name of ['legal_name', 'tax_id', 'tax_line'] as const)
    if (orNull(draft[name]) !== workspace[name]) update[name] = orNull(draft[name]);
  const lines = linesOf(draft.address);
  if (lines.join('\n') !== before.address) update.address_lines = lines;
  if (draft.logo?.data !== before.logo?.data) update.logo = draft.logo === null ? null : { data: draft.logo.data };
  return Object.keys(update).length === 0 ? null : update;
}

const PREFIX_FORM = /^(?=[A-Za-z0-9])[A-Za-z0-9._/-]{0,19}[A-Za-z._/-]$/;

/** What is wrong with a prefix, before the server says so; null where nothing is. */
export function prefixProblem(prefix: string): string | null {
  if (prefix === '') return 'Invoice numbers need a prefix.';
  if (PREFIX_FORM.test(prefix)) return null;
  if (prefix.length > 20) return 'Up to 20 characters.';
  if (/\d$/.test(prefix)) return 'Ends with a letter or a sign such as -, so that prefix and number can be told apart.';
  return 'Letters, digits and - _ / . only, beginning with a letter or digit.';
}

export const MAX_LOGO_BYTES = 128 * 1024;
