// Every range that the policy refuses, by its first and last address, and the neighbours that it lets through.
// Resolves and opens nothing.

import { describe, expect, test } from 'vitest';
import { isAllowedAddress } from './network-policy.ts';

const reachableUnderBoth = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001::200e',
  '3ffe::1',
];

const reachableUnderAny = [
  '0.0.0.0',
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.0',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.0',
  '192.168.255.255',
  '198.18.0.0',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.7',
  '240.0.0.0',
  '255.255.255.254',
  '::',
  '::1',
  '::7f00:1',
  'fc00::1',
  'fdff::1',
  '64:ff9b::808:808',
  '64:ff9b::7f00:1',
  '100::1',
  '2001:2::1',
  '2001:10::1',
  '2001:db8::1',
  '2001:db8:ffff::1',
  '3fff::1',
  '3fff:fff::1',
  '4000::1',
  '5f00::1',
];

const neverReachable = [
  '169.254.0.0',
  '169.254.169.254',
  '169.254.255.255',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '224.0.0.1',
  '239.255.255.255',
  '255.255.255.255',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '0:0:0:0:0:ffff:7f00:1',
  '::ffff:0:7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::1',
  '2001::1',
  '2002:7f00:1::',
  'fe80::1%lo',
  '::1%lo',
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '[::1]',
  '1.1.1.1/32',
  '01.1.1.1',
];

describe('isAllowedAddress', () => {
  test.each(reachableUnderBoth)('%s is public', (address) => {
    expect(isAllowedAddress(address, 'public')).toBe(true);
    expect(isAllowedAddress(address, 'any')).toBe(true);
  });

  test.each(reachableUnderAny)('%s is reached under "any" only', (address) => {
    expect(isAllowedAddress(address, 'public')).toBe(false);
    expect(isAllowedAddress(address, 'any')).toBe(true);
  });

  test.each(neverReachable)('%j is reached under no policy', (address) => {
    expect(isAllowedAddress(address, 'public')).toBe(false);
    expect(isAllowedAddress(address, 'any')).toBe(false);
  });
});
