import { expect, it } from 'vitest';
import { networkOf } from '../../../src/platform/http/network-address.js';

it.each([
  ['203.0.113.5', '203.0.113.5'],
  ['203.0.113.5:471', '203.0.113.5'],
  ['::ffff:203.0.113.5', '203.0.113.5'],
  ['[::ffff:203.0.113.5]:471', '203.0.113.5'],
  ['2001:db8::7', '2001:db8::/64'],
  ['[2001:db8::7]', '2001:db8::/64'],
  ['[2001:db8::7]:471', '2001:db8::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address, '192.0.2.1')).toBe(network);
});

it.each([undefined, '', 'unknown', '203.0.113.5:', '203.0.113:471', '[203.0.113.5', '[]:471', '_hidden'])(
  'an address that cannot be read, such as %s, leaves that of the connection',
  (address) => {
    expect(networkOf(address, '::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(networkOf(address, undefined)).toBe('unknown');
  },
);
