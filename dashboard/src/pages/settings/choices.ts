// Currencies and time zones to choose from, as the browser knows them, with their names in the person's language.
// The server decides what it takes; what it has already is always among them.

export interface Choice {
  readonly value: string;
  readonly label: string;
}

const names = new Intl.DisplayNames(undefined, { type: 'currency' });

/** What the browser lists that is no money anybody pays with: metals, testing codes, units of accounts. */
const notMoney = /^X(?!A[DF]|C[DG]|OF|PF)|^(ADP|AFA|DEM|FRF)$/;

let currencies: readonly Choice[] | null = null;
let timezones: readonly Choice[] | null = null;

function withOwn(choices: readonly Choice[], own: string): Choice[] {
  return choices.some(({ value }) => value === own) ? [...choices] : [{ value: own, label: own }, ...choices];
}

export function currencyChoices(own: string): Choice[] {
  currencies ??= Intl.supportedValuesOf('currency')
    .filter((code) => !notMoney.test(code) && names.of(code) !== code && !/\(\d{4}/.test(names.of(code) ?? ''))
    .map((code) => ({ value: code, label: `${code} – ${names.of(code)}` }));
  return withOwn(currencies, own);
}

export function timezoneChoices(own: string): Choice[] {
  timezones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')].map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' '),
  }));
  return withOwn(timezones, own);
}
