// Amounts: the currency's own digits, exact at any length, read as the person's language writes them.

import { expect, test } from 'vitest';
import { currencyExponents } from '../../../server/src/domain/money.ts';
import { decimalText, exponentOf, formatAmount, formatMoney, parseAmount, totalsByCurrency } from './amount.ts';

test('every currency has as many digits after the point here as on the server', () => {
  for (const [code, exponent] of currencyExponents) expect(exponentOf(code), code).toBe(exponent);
});

test.each([
  [123450, 'USD', '$1,234.50'],
  [5, 'EUR', '€0.05'],
  [1234, 'JPY', '¥1,234'],
  [1234, 'IQD', 'IQD 1.234'],
  ['123456789012345678901234', 'USD', '$1,234,567,890,123,456,789,012.34'],
  [-1050n, 'GBP', '-£10.50'],
])('%s minor units of %s read %s', (amount, currency, text) => {
  expect(formatMoney(amount, currency, 'en-US').replaceAll('\u00a0', ' ')).toBe(text);
});

test('an amount without its sign is what can be typed again', () => {
  for (const locale of ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN', 'pl-PL']) {
    for (const currency of ['USD', 'JPY', 'KWD', 'CLF']) {
      for (const minor of [1n, 99n, 100_000n, 123_456_789n, 999_999_999_999n]) {
        expect(parseAmount(formatAmount(minor, currency, locale), currency, locale), `${locale} ${currency}`).toEqual({
          minor,
          problem: null,
        });
      }
    }
  }
});

test.each([
  ['1234.5', 'USD', 'en-US', 123450n],
  ['.5', 'USD', 'en-US', 50n],
  ['1.234,50', 'EUR', 'de-DE', 123450n],
  ['1 234,50', 'EUR', 'fr-FR', 123450n],
  ['1,23,456.00', 'INR', 'en-IN', 12345600n],
  [' 1200 ', 'JPY', 'ja-JP', 1200n],
])('%s in %s, written in %s, is understood', (text, currency, locale, minor) => {
  expect(parseAmount(text, currency, locale)).toEqual({ minor, problem: null });
});

test.each([
  ['', 'USD', 'en-US'],
  ['-5', 'USD', 'en-US'],
  ['1.234', 'USD', 'en-US'],
  ['12.50', 'EUR', 'de-DE'],
  ['12,50', 'USD', 'en-US'],
  ['1,2,3', 'USD', 'en-US'],
  ['1.5', 'JPY', 'en-US'],
  ['1e3', 'USD', 'en-US'],
  ['.', 'USD', 'en-US'],
  ['12 USD', 'USD', 'en-US'],
])('%s in %s, written in %s, is refused and not guessed', (text, currency, locale) => {
  expect(parseAmount(text, currency, locale)).toMatchObject({ minor: null, problem: expect.stringMatching(/\.$/) });
});

test('an amount as text is exact beyond what a float can hold, and sums stay per currency', () => {
  expect(decimalText('9007199254740993', 2)).toBe('90071992547409.93');
  const totals = totalsByCurrency([
    { amount: '9007199254740993', currency: 'USD' },
    { amount: 2, currency: 'USD' },
    { amount: 7, currency: 'JPY' },
  ]);
  expect([...totals]).toEqual([
    ['USD', 9007199254740995n],
    ['JPY', 7n],
  ]);
});
