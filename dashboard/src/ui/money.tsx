// Shows an amount, and takes one.
// Reckons nothing; ui/amount.ts does.

import { TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { formatAmount, formatMoney, type Minor, parseAmount } from './amount.ts';

/** An amount in minor units of its currency. The code of the currency shows on hover, since signs such as $ are shared. */
export function Money({ amount, currency }: { readonly amount: Minor; readonly currency: string }): ReactNode {
  return (
    <span className="amount" title={`${formatAmount(amount, currency)} ${currency}`}>
      {formatMoney(amount, currency)}
    </span>
  );
}

export interface MoneyInputProps {
  readonly label: string;
  readonly currency: string;
  /** In minor units; null while what is typed is no amount. */
  readonly value: bigint | null;
  readonly onChange: (minor: bigint | null) => void;
  readonly error?: ReactNode;
  readonly required?: boolean;
  readonly disabled?: boolean;
}

export function MoneyInput({ label, currency, value, onChange, error, required = false, disabled = false }: MoneyInputProps): ReactNode {
  const [text, setText] = useState(value === null ? '' : formatAmount(value, currency));
  const [left, setLeft] = useState(false);
  const { problem } = parseAmount(text, currency);
  return (
    <TextInput
      label={label}
      inputMode="decimal"
      autoComplete="off"
      value={text}
      required={required}
      disabled={disabled}
      rightSection={<span className="mono">{currency}</span>}
      rightSectionWidth={56}
      error={error ?? (left && text !== '' ? problem : null)}
      onChange={(change) => {
        setText(change.currentTarget.value);
        onChange(parseAmount(change.currentTarget.value, currency).minor);
      }}
      onBlur={() => {
        setLeft(true);
        const { minor } = parseAmount(text, currency);
        if (minor !== null) setText(formatAmount(minor, currency));
      }}
    />
  );
}
