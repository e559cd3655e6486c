// What JSON.parse would forgive is found in the text, and nothing else is.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonTextProblem } from './json-text.ts';

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"b":2,"c":3,"a":4}',
  '{"a":1, "\\u0061" : 2}',
  '{"x":[{"a":1,"a":2}]}',
  '{"x":{"a":{}},"y":1,"x":2}',
  '{"":1,"":2}',
  '{"\\"":1,"\\"":2}',
])('a key that is given twice in one object is found in %s', (text) => {
  expect(JSON.parse(text)).toBeTruthy();
  expect(jsonTextProblem(text)).toMatch(/^the key ".*" is given twice$/s);
});

test.each([
  '[100.00000000000000001]',
  '{"amount":999999999999.00001}',
  '[1.00000000000000001e2]',
  '-0.0000000000000000000001e-400',
])('a fraction that would be read as an integer is found in %s', (text) => {
  expect(jsonTextProblem(text)).toContain('more digits than can be read exactly');
});

test.each([
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
  '{"a":"a\\":1,\\"a","b":"a"}',
  '{"a":["a","a"],"b":"{\\"a\\":1,\\"a\\":2}"}',
  '{"a\\\\":1,"a":2}',
  '[100.00000000000000000,10000000000000000000000,0.1000000000000000055]',
  '[1,-1,1e2,0.1,999999999999,1e400,-0,"100.00000000000000001"]',
  '{"e":true,"E":null,"__proto__":1}',
])('nothing is found in %s', (text) => {
  expect(JSON.parse(text)).toBeTruthy();
  expect(jsonTextProblem(text)).toBeNull();
});

test('whatever JSON.stringify writes has no key twice', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1), (value, indent) => {
      expect(jsonTextProblem(JSON.stringify(value, (_, inner) => (typeof inner === 'number' ? 1 : inner), indent))).toBeNull();
    }),
  );
});

test('no fraction of up to 17 characters is read as an integer, so that none can pass for an amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 16n }), fc.integer({ min: 1, max: 15 }), (digits, places) => {
      const padded = digits.toString().padStart(places + 1, '0');
      const text = `${padded.slice(0, -places)}.${padded.slice(-places)}`;
      const isWhole = /^0+$/.test(padded.slice(-places));
      if (text.length <= 17 && !isWhole) expect(Number.isInteger(JSON.parse(text)), text).toBe(false);
    }),
    { numRuns: 2000 },
  );
});
