// Amounts as text and back: whole numbers of minor units in, the person's own way of writing out. No float ever touches an amount.
// Knows no page; ui/money.tsx shows them.

/** Digits after the point of the currencies that do not have two, by ISO 4217. What `Intl` believes differs for some: there IQD has none. */
// biome-ignore format: a table reads better in lines of one kind.
const exponents: Readonly<Record<string, number>> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
  CLF: 4, UYW: 4,
};

/** An amount in minor units as it comes over the wire or is reckoned with here. */
export type Minor = bigint | number | string;

export const exponentOf = (currency: string): number => exponents[currency.toUpperCase()] ?? 2;

/** `123450`, 2 → `1234.50`. */
export function decimalText(amount: Minor, exponent: number): string {
  const minor = BigInt(amount);
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  return `${minor < 0n ? '-' : ''}${whole}${exponent === 0 ? '' : `.${digits.slice(-exponent)}`}`;
}

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string | undefined, currency: string | null, exponent: number): Intl.NumberFormat {
  const name = `${locale} ${currency} ${exponent}`;
  let format = formats.get(name);
  if (format === undefined) {
    const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
    const style = currency === null ? {} : ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const);
    format = new Intl.NumberFormat(locale, { ...style, ...digits });
    formats.set(name, format);
  }
  return format;
}

/** With the sign of the currency: `$1,234.50`. */
export function formatMoney(amount: Minor, currency: string, locale?: string): string {
  const exponent = exponentOf(currency);
  // A decimal text is formatted exactly, however long.
  return formatOf(locale, currency, exponent).format(decimalText(amount, exponent) as `${number}`);
}

/** Without the sign of the currency, as a person would type it: `1,234.50`. */
export function formatAmount(amount: Minor, currency: string, locale?: string): string {
  const exponent = exponentOf(currency);
  return formatOf(locale, null, exponent).format(decimalText(amount, exponent) as `${number}`);
}

export type ParsedAmount = { readonly minor: bigint; readonly problem: null } | { readonly minor: null; readonly problem: string };

const wrong = (problem: string): ParsedAmount => ({ minor: null, problem });

/** What a person typed, in minor units, read the way their own language writes numbers. What could be meant in two ways is refused. */
export function parseAmount(text: string, currency: string, locale?: string): ParsedAmount {
  const exponent = exponentOf(currency);
  const parts = formatOf(locale, null, 2).formatToParts(1234567.5);
  const part = (type: string, otherwise: string): string => parts.find((one) => one.type === type)?.value ?? otherwise;
  const point = part('decimal', '.');
  const group = part('group', ',');
  // Some languages group by a narrow or unbreakable space, which nobody can type; any space and apostrophe then counts.
  const compact = text.trim().replace(/[\s\u00a0\u202f'’]/gu, '');
  if (compact === '') return wrong('Enter an amount.');
  if (/^[-−]/.test(compact)) return wrong('The amount must be above zero.');
  const [whole = '', fraction = '', ...more] = compact.split(point);
  const groups = /\s/u.test(group) || group === '’' ? [whole] : whole.split(group);
  const isGrouped =
    groups.length > 1 &&
    (!/^\d{1,3}$/.test(groups[0] ?? '') ||
      groups.slice(1, -1).some((one) => !/^\d{2,3}$/.test(one)) ||
      !/^\d{3}$/.test(groups.at(-1) ?? ''));
  const digits = groups.join('');
  if (more.length > 0 || isGrouped || !/^\d*$/.test(digits) || !/^\d*$/.test(fraction) || digits + fraction === '')
    return wrong(`Write it like ${formatAmount(10n ** BigInt(exponent) * 1234n, currency, locale)}.`);
  if (fraction.length > exponent)
    return wrong(
      exponent === 0
        ? `${currency} has no smaller unit.`
        : `${currency} has ${exponent} digits after the ${point === ',' ? 'comma' : 'point'}.`,
    );
  return { minor: BigInt(digits + fraction.padEnd(exponent, '0')), problem: null };
}

/** Sums per currency; amounts of two currencies never meet. */
export function totalsByCurrency(amounts: readonly { readonly amount: Minor; readonly currency: string }[]): Map<string, bigint> {
  const totals = new Map<string, bigint>();
  for (const { amount, currency } of amounts) totals.set(currency, (totals.get(currency) ?? 0n) + BigInt(amount));
  return totals;
}
