import { describe, expect, it } from 'vitest';
import { issuerDid, serviceDid } from '../../src/core/statement/issuer-did.js';
import { isReservedIssuer } from '../../src/scitt/reserved-issuer.js';
import { processorMs } from '../support/processor-time.js';
import { spellingsOf } from './issuer-spellings.js';

const TENANCY = '0190a8c0-0000-7000-8000-0000000000aa';
const DEPLOYMENTS = [
  'http://127.0.0.1:8080',
  'https://archive.example',
  'https://archive.example:8443/Prefix/of-ours',
  'https://xn--bcher-kva.example',
];
const reservedOf = (publicUrl: string) => [serviceDid(publicUrl), publicUrl];

describe.each(DEPLOYMENTS)('of the service at %s', (publicUrl) => {
  const reserved = reservedOf(publicUrl);
  const names = [...reserved, issuerDid(publicUrl, TENANCY)];
  it.each(names.flatMap((name) => spellingsOf(name).map(([how, spelled]) => [name, how, spelled])))(
    '%s is reserved %s',
    (_name, _how, spelled) => {
      expect(isReservedIssuer(spelled, reserved)).toBe(true);
    },
  );
});

describe('a name with encodings within encodings', () => {
  const encoded = (name: string, times: number): string =>
    times === 0 ? name : encoded(name.replaceAll('%', '%25').replaceAll(':', '%3A'), times - 1);
  it('is read up to a limit, and is reserved beyond it', () => {
    const reserved = reservedOf('https://archive.example');
    for (const times of [1, 4, 7, 8, 9, 200])
      expect([
        times,
        isReservedIssuer(encoded(issuerDid('https://archive.example', TENANCY), times), reserved),
      ]).toEqual([times, true]);
    expect(isReservedIssuer(encoded('did:web:another.example', 7), reserved)).toBe(false);
    expect(isReservedIssuer(`https://another.example/%${'25'.repeat(20_000)}41`, reserved)).toBe(true);
    expect(isReservedIssuer(encoded('did:web:another.example', 200), [])).toBe(false);
  });
});

describe('a name is reserved', () => {
  it.each([
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['did:web:bücher.example:archivist:v1:didweb', 'https://xn--bcher-kva.example'],
    ['https://ar\u3002example', 'https://ar.example'],
    ['https://archive.example:443', 'https://archive.example'],
    ['http://archive.example:80', 'https://archive.example'],
    ['did:web:archive.example%3A443:archivist:v1:didweb', 'https://archive.example'],
    ['http://0x7f.1:8080', 'http://127.0.0.1:8080'],
    ['did:web:127.1%3A8080:archivist:v1:didweb', 'http://127.0.0.1:8080'],
    ['did:web:[::1]:8080:archivist:v1:didweb', 'http://[::1]:8080'],
    ['did:web:%5B0:0::1%5D%3A8080:archivist:v1:didweb', 'http://[::1]:8080'],
    ['http://[0:0:0:0:0:0:0:1]:8080', 'http://[::1]:8080'],
  ])('%s by the service at %s', (name, publicUrl) => {
    expect(isReservedIssuer(name, reservedOf(publicUrl))).toBe(true);
  });

  it.each([
    'https://archive.example.org',
    'https://other.example',
    'https://archive.example:8443',
    'https://archive.exam\u0440le',
    'ftp://archive.example',
    'archive.example',
    'did:web:archive.example',
    'did:web:archive.example:conserver',
    'did:web:archive.example:archivist:v1:didwebs',
    'did:web:archive.example:archivist:v1:didwe',
    'did:web:archive.example%3A8443:archivist:v1:didweb',
    'did:web:archive.example:8443:archivist:v1:didweb',
    'did:web:other.example:archive.example:archivist:v1:didweb',
    'did:webs:archive.example:archivist:v1:didweb',
    'did:key:z6Mk',
    'conserver',
    '%',
    '%ff%fe',
    'did:web:',
    'https://',
    '',
  ])('only if it is one of the service: "%s" is not', (name) => {
    expect(isReservedIssuer(name, reservedOf('https://archive.example'))).toBe(false);
  });

  it('or not in a time that does not explode with repeated encoding', () => {
    let name = 'did:web:archive.example';
    while (name.length < 900)
      name = name
        .replaceAll('%', '%25')
        .replace(':', '%3a')
        .padEnd(name.length + 40, '%25');
    const started = processorMs();
    for (let round = 0; round < 50; round += 1) isReservedIssuer(name, reservedOf('https://archive.example'));
    expect((processorMs() - started) / 50).toBeLessThan(20);
  });
});
