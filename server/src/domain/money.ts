// Money: integer minor units of an ISO 4217 currency, as bigint. No float ever touches an amount.
// Pure. Shapes: `amountMinor` is a bigint in the domain, an integer in JSON (it always fits: 999,999,999,999 < 2^53).

/** Digits after the decimal point of each active ISO 4217 currency that does not have two. */
// biome-ignore format: a table reads better in lines of one kind.
const exponents: Record<string, number> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
  CLF: 4, UYW: 4,
};

// Active national currencies and funds of ISO 4217 (list one); metals, testing codes and bond units carry no exponent and are left out.
const codes = (
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK ' +
  'DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD ' +
  'KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR ' +
  'RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES ' +
  'VND VUV WST XAD XAF XCD XCG XOF XPF YER ZAR ZMW ZWG'
).split(' ');

/** Minor-unit exponent by currency code, for every currency that is accepted. */
export const currencyExponents: ReadonlyMap<string, number> = new Map(codes.map((code) => [code, exponents[code] ?? 2]));

export const MIN_AMOUNT_MINOR = 1n;
export const MAX_AMOUNT_MINOR = 999_999_999_999n;

/** The upper-case code of a currency given in any case, or null when it is not one of ISO 4217. */
export function parseCurrency(text: string): string | null {
  // Checked before the case is changed: some letters outside ASCII turn into ASCII ones.
  if (!/^[A-Za-z]{3}$/.test(text)) return null;
  const code = text.toUpperCase();
  return currencyExponents.has(code) ? code : null;
}

/** `1234.50 USD`, `1500 JPY`: for people to read; exact, by moving digits only. */
export const formatMoney = (amountMinor: bigint, currency: string): string => `${majorUnits(amountMinor, currency)} ${currency}`;

/** `1234.50`: the amount by itself, with as many digits after the point as the currency has. */
export function majorUnits(amountMinor: bigint, currency: string): string {
  const exponent = currencyExponents.get(currency) ?? 2;
  const sign = amountMinor < 0n ? '-' : '';
  const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  return `${sign}${whole}${exponent > 0 ? `.${digits.slice(-exponent)}` : ''}`;
}
