import { describe, expect, it } from 'vitest';
import type { GeneralName } from '../../../src/platform/x509/general-name.js';
import { assertNamesAllowed } from '../../../src/platform/x509/name-constraints.js';

describe('the names that an authority may certify', () => {
  const hosts = (count: number): GeneralName[] =>
    Array.from({ length: count }, (_, place) => ({ kind: 'dns', text: `h${place}.example` }));

  it('are compared up to a number of comparisons, which no genuine chain reaches', () => {
    const constraints = { permitted: hosts(100), excluded: [] };
    expect(() => assertNamesAllowed(hosts(100), constraints)).not.toThrow();
    expect(() => assertNamesAllowed(hosts(101), constraints)).toThrow('a name that an authority of it may not give');
    expect(() => assertNamesAllowed(hosts(1_001), constraints)).toThrow('too many names');
    expect(() => assertNamesAllowed(hosts(10_000), { permitted: [], excluded: hosts(11) })).toThrow('too many names');
  });

  const mail = (text: string): GeneralName => ({ kind: 'mail', text });
  const ip = (...bytes: number[]): GeneralName => ({ kind: 'ip', bytes: Uint8Array.from(bytes) });
  it.each([
    ['a mail address without an at sign', mail('example.org'), mail('example.org'), 'a mail address in the chain'],
    [
      'an address of five bytes',
      ip(10, 0, 0, 0, 1),
      ip(10, 0, 0, 0, 1, 255, 255, 255, 255, 0),
      'an address in the chain',
    ],
  ])('are refused where a name cannot be compared with them: %s', (_what, given, constraint, named) => {
    for (const [permitted, excluded] of [
      [[constraint], []],
      [[], [constraint]],
    ])
      expect(() => assertNamesAllowed([given], { permitted: permitted!, excluded: excluded! })).toThrow(
        `${named} cannot be compared with a name constraint`,
      );
  });
});
