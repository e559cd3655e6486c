// Signing in leads nowhere else.

import { expect, test } from 'vitest';
import { whereNext } from './where-next.ts';

test.each(['/projects?status=active', '/', '/invitation'])('%s is one of our pages', (next) => {
  expect(whereNext(next)).toBe(next);
});

test.each([
  undefined,
  '',
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
])('%s is not followed', (next) => {
  expect(whereNext(next)).toBe('/');
});
