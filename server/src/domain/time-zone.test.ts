// Days and months of time zones, also where clocks are changed at midnight and where a day was left out.
// Pure.

import { describe, expect, test } from 'vitest';
import { dayOf, isTimeZone, monthsUntil } from './time-zone.ts';

describe('a time zone', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'Asia/Kathmandu'])('%s is one', (name) => {
    expect(isTimeZone(name)).toBe(true);
  });
  test.each([
    '',
    '+01:00',
    'Europe/Atlantis',
    "UTC'; drop table x",
    'a'.repeat(100),
    '../etc',
    'Europe/Berlin\u0000',
  ])('%j is none', (name) => {
    expect(isTimeZone(name)).toBe(false);
  });

  test('says which day a moment is', () => {
    const moment = new Date('2026-03-31T23:30:00Z');
    expect(['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati'].map((zone) => dayOf(moment, zone))).toEqual([
      '2026-03-31',
      '2026-04-01',
      '2026-03-31',
      '2026-04-01',
    ]);
  });

  test('has months that end where the next begins, across changes of clocks and of the year', () => {
    const months = monthsUntil(new Date('2026-04-15T12:00:00Z'), 'Europe/Berlin', 12);
    expect(months.map(({ name }) => name)).toEqual([
      ...[
        '2025-05',
        '2025-06',
        '2025-07',
        '2025-08',
        '2025-09',
        '2025-10',
        '2025-11',
        '2025-12',
        '2026-01',
        '2026-02',
        '2026-03',
        '2026-04',
      ],
    ]);
    expect(months.map(({ from }) => from.toISOString().slice(5, 16))).toEqual([
      ...['04-30T22:00', '05-31T22:00', '06-30T22:00', '07-31T22:00', '08-31T22:00', '09-30T22:00', '10-31T23:00', '11-30T23:00'],
      ...['12-31T23:00', '01-31T23:00', '02-28T23:00', '03-31T22:00'],
    ]);
  });

  test.each([
    'UTC',
    'Europe/Berlin',
    'Asia/Kathmandu',
    'Pacific/Apia',
    'America/Sao_Paulo',
    'Africa/Cairo',
    'Asia/Beirut',
  ])('the first moment of each month of %s is of that month, and the millisecond before is not', (zone) => {
    for (const year of [2011, 2012, 2018, 2026]) {
      for (const { name, from } of monthsUntil(new Date(Date.UTC(year, 11, 15)), zone, 12)) {
        expect(dayOf(from, zone)).toBe(`${name}-01`);
        expect(dayOf(new Date(from.getTime() - 1), zone).slice(0, 7)).not.toBe(name);
      }
    }
  });
});
