// How the next invoice will begin and end, as the form stands: the sender, the number, the tax line.
// A likeness for the eye; the server draws the page itself.

import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatMoney } from '../../ui/amount.ts';
import classes from './settings.module.css';
import { linesOf, type SettingsDraft } from './settings-draft.ts';

/** Something to stand for a number and an amount. */
const SAMPLE_NUMBER = '000042';
const SAMPLE_MINOR = 150_000;

function issuedOn(timezone: string): string {
  const form = { day: 'numeric', month: 'long', year: 'numeric' } as const;
  try {
    return new Intl.DateTimeFormat('en-GB', { ...form, timeZone: timezone }).format(new Date());
  } catch {
    return new Intl.DateTimeFormat('en-GB', form).format(new Date());
  }
}

export function InvoiceHead({ draft }: { readonly draft: SettingsDraft }): ReactNode {
  const { logo, tax_id: taxId, tax_line: taxLine } = draft;
  return (
    <aside className={classes.sticky} aria-label="Preview of an invoice">
      <Text c="dimmed" size="sm" mb={6}>
        How the next invoice will look
      </Text>
      <div className={classes.paper}>
        <div className={classes.paperHead}>
          <div>
            {logo !== null && <img src={`data:${logo.content_type};base64,${logo.data}`} alt="" />}
            <strong>{draft.legal_name.trim() === '' ? draft.name : draft.legal_name}</strong>
            {linesOf(draft.address).map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and two may be alike.
              <div key={index}>{line}</div>
            ))}
            {taxId.trim() !== '' && <div>Tax ID {taxId}</div>}
          </div>
          <div>
            <div className={classes.paperTitle}>Invoice</div>
            <div>
              {draft.invoice_prefix}
              {SAMPLE_NUMBER}
            </div>
            <div className={classes.paperFaint}>Issued {issuedOn(draft.timezone)}</div>
          </div>
        </div>
        <div className={classes.paperTotal}>
          <span>Total</span>
          <span>{formatMoney(SAMPLE_MINOR, draft.default_currency)}</span>
        </div>
        {taxLine.trim() !== '' && <div className={classes.paperTax}>{taxLine}</div>}
      </div>
    </aside>
  );
}
