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
  const dns = (text: string): GeneralName => ({ kind: 'dns', text });
  const uri = (text: string): GeneralName => ({ kind: 'uri', text });
  const ip = (...bytes: number[]): GeneralName => ({ kind: 'ip', bytes: Uint8Array.from(bytes) });
  it.each([
    ['a mail address without an at sign', mail('example.org'), mail('example.org'), 'a mail address in the chain'],
    [
      'an address of five bytes',
      ip(10, 0, 0, 0, 1),
      ip(10, 0, 0, 0, 1, 255, 255, 255, 255, 0),
      'an address in the chain',
    ],
    ['a host with a dot at its end', dns('a.example.org.'), dns('example.org'), 'a DNS name in the chain'],
    ['a host with a space', dns('a.example.org '), dns('example.org'), 'a DNS name in the chain'],
    ['a host with a zero byte', dns('a.example.org\0.example.com'), dns('example.org'), 'a DNS name in the chain'],
    ['a host without a first label', dns('.example.org'), dns('example.org'), 'a DNS name in the chain'],
    ['a mail host with a dot at its end', mail('a@example.org.'), mail('example.org'), 'a mail address in the chain'],
    ['a mail address with two at signs', mail('a@b@example.org'), mail('example.org'), 'a mail address in the chain'],
    ['a URI with a dot after its host', uri('https://a.example.org./'), uri('.example.org'), 'a URI in the chain'],
    ['a URI with an address', uri('https://10.1.2.3/'), uri('.example.org'), 'a URI in the chain'],
    ['a URI with an address in hex', uri('https://0x0a010203/'), uri('.example.org'), 'a URI in the chain'],
  ])('are refused where a name cannot be compared with them: %s', (_what, given, constraint, named) => {
    for (const [permitted, excluded] of [
      [[constraint], []],
      [[], [constraint]],
    ])
      expect(() => assertNamesAllowed([given], { permitted: permitted!, excluded: excluded! })).toThrow(
        `${named} cannot be compared with a name constraint`,
      );
  });

  it.each([
    ['a domain with a dot at its end', dns('example.org.'), dns('a.example.org'), 'is no host or domain'],
    ['a domain with an asterisk', dns('*.example.org'), dns('a.example.org'), 'is no host or domain'],
    ['no mail host', mail(''), mail('a@example.org'), 'is no host or domain'],
    ['no host of a URI', uri(''), uri('https://a.example.org/'), 'is no host or domain'],
    ['a URI', uri('https://example.org'), uri('https://example.org/'), 'is no host or domain'],
    ['a network of three bytes', ip(10, 0, 0), ip(10, 1, 2, 3), 'is no network'],
  ])('are refused where a constraint has no meaning: %s', (_what, constraint, given, why) => {
    for (const [permitted, excluded] of [
      [[constraint], []],
      [[], [constraint]],
    ])
      expect(() => assertNamesAllowed([given], { permitted: permitted!, excluded: excluded! })).toThrow(why);
  });

  it.each([
    ['every host, by an empty domain', dns(''), dns('*.example.org')],
    ['a host below a domain', dns('example.org'), dns('A_1.example.ORG')],
    ['a mailbox in quotes', mail('example.org'), mail('"a@b"@example.org')],
    ['a host of a URI', uri('.example.org'), uri('https://x-1.example.org:8080/')],
  ])('include %s', (_what, constraint, given) => {
    expect(() => assertNamesAllowed([given], { permitted: [constraint], excluded: [] })).not.toThrow();
    expect(() => assertNamesAllowed([given], { permitted: [], excluded: [constraint] })).toThrow('may not give');
  });
});
