// What the areas bring along fits together: every entry leads to a page, and no key is given twice.

import { beforeAll, expect, test, vi } from 'vitest';
import type { Area } from './area.ts';

let areas: readonly Area[];
let paths: readonly string[];

beforeAll(async () => {
  // Modules of the dashboard look at the browser they are in.
  vi.stubGlobal('location', { origin: 'http://127.0.0.1:8080', pathname: '/', hash: '' });
  vi.stubGlobal('navigator', { platform: 'Linux', locks: undefined });
  const all = await import('./areas.ts');
  areas = all.areas;
  paths = [...all.insideRoutes, ...all.outsideRoutes].map((route) => (route.options as { readonly path: string }).path);
});

const pathOf = (href: string): string => href.split(/[?#]/, 1)[0] as string;
const isPage = (href: string): boolean => paths.some((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}$`).test(pathOf(href)));

test('every entry of the menu, every command and every kind of record leads to a page', () => {
  const visited: string[] = [];
  for (const { nav, commands = [], records = {} } of areas) {
    visited.push(...nav.map(({ to }) => to));
    for (const { run } of commands) run({ go: (href) => visited.push(href) });
    visited.push(...Object.entries(records).map(([prefix, lead]) => lead(`${prefix}_1`)));
  }
  expect(visited.length).toBeGreaterThan(12);
  expect(visited.filter((href) => !isPage(href))).toEqual([]);
});

test('no path, key or prefix is taken twice', () => {
  const keys = areas.flatMap(({ nav }) => nav.flatMap(({ key }) => (key === undefined ? [] : [key])));
  const prefixes = areas.flatMap(({ records = {} }) => Object.keys(records));
  for (const names of [paths, keys, prefixes]) expect(new Set(names).size).toBe(names.length);
  for (const key of keys) expect(key).toMatch(/^[a-z]$/);
});
