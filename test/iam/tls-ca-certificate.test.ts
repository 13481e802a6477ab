import { expect, it } from 'vitest';
import { readCaCertificate } from '../../src/iam/tls-ca-certificates/tls-ca-certificate.js';
import { makeCertificate } from '../api/test-certificates.js';

it('an authority is taken from the first moment of its validity to the last (RFC 5280, 4.1.2.5)', async () => {
  const [notBefore, notAfter] = [new Date('2026-01-31T12:00:00Z'), new Date('2026-02-28T12:00:00Z')];
  const { pem } = await makeCertificate({ name: 'CN=a', ca: true, notBefore, notAfter });
  const readAt = (ms: number) => () => readCaCertificate({ certificate: pem }, ms)?.pem;
  expect(readAt(notBefore.getTime() - 1)).toThrow('certificate: is not valid yet');
  for (const time of [notBefore, notAfter]) expect(readAt(time.getTime())()).toBe(pem);
  expect(readAt(notAfter.getTime() + 1)).toThrow('certificate: has expired');
});
