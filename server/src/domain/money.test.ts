// Money: exponents of ISO 4217, currencies in any case, and amounts in words without a float.

import { expect, test } from 'vitest';
import { currencyExponents, formatMoney, parseCurrency } from './money.ts';

test.each([
  ['JPY', 0],
  ['USD', 2],
  ['KWD', 3],
  ['CLF', 4],
  ['EUR', 2],
  ['ISK', 0],
  ['BHD', 3],
  ['XOF', 0],
  ['UYW', 4],
])('%s has %i digits after the point', (code, exponent) => {
  expect(currencyExponents.get(code)).toBe(exponent);
});

test.each([
  ['usd', 'USD'],
  ['Eur', 'EUR'],
  ['KWD', 'KWD'],
])('%s is understood as %s', (text, code) => {
  expect(parseCurrency(text)).toBe(code);
});

test.each(['', 'US', 'USDD', 'XXX', 'BTC', 'constructor', 'ſek', 'XAU'])('%j is no currency', (text) => {
  expect(parseCurrency(text)).toBeNull();
});

test.each([
  [150_000n, 'USD', '1500.00 USD'],
  [5n, 'USD', '0.05 USD'],
  [1_500n, 'JPY', '1500 JPY'],
  [1n, 'KWD', '0.001 KWD'],
  [-12_345n, 'EUR', '-123.45 EUR'],
  [999_999_999_999n, 'USD', '9999999999.99 USD'],
  [0n, 'USD', '0.00 USD'],
])('%s minor units of %s read %s', (amount, currency, text) => {
  expect(formatMoney(amount, currency)).toBe(text);
});
