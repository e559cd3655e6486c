// Chooses a currency by its code or its name.
// Which ones the server takes, it says itself.

import { Select } from '@mantine/core';
import type { ReactNode } from 'react';

const names = new Intl.DisplayNames(undefined, { type: 'currency' });
const currencies = Intl.supportedValuesOf('currency').map((code) => {
  const name = names.of(code);
  return { value: code, label: name === undefined || name === code ? code : `${code} · ${name}` };
});

export interface CurrencyFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly onChange: (currency: string) => void;
  readonly error?: ReactNode;
  readonly disabled?: boolean;
}

export function CurrencyField({
  label,
  description,
  placeholder,
  value = '',
  onChange,
  error,
  disabled = false,
}: CurrencyFieldProps): ReactNode {
  const isKnown = value === '' || currencies.some((one) => one.value === value);
  return (
    <Select
      label={label}
      description={description}
      placeholder={placeholder}
      data={isKnown ? currencies : [{ value, label: value }, ...currencies]}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable
      clearable={placeholder !== undefined}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      nothingFoundMessage="No such currency"
      limit={200}
      error={error}
      disabled={disabled}
    />
  );
}
