// The digits of a whole number, for texts that are made by the thousand.
// Pure.

const groups = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

/**
 * What `String` gives for a whole number that is not negative and exact. The engine keeps what `String` returned, in a table of the last
 * numbers, for so long that each text is old when it dies; of sequence numbers, none of which comes twice, that is all there is to collect.
 */
export const decimal = (number: number): string =>
  number < 1000 ? String(number) : decimal(Math.floor(number / 1000)) + (groups[number % 1000] as string);
