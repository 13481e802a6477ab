import { createPublicKey, sign, verify } from 'node:crypto';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

const COUNT = 4_000;
const MESSAGE = Buffer.alloc(500, 7);

/** By processor time: what else runs on the machine changes nothing. */
function perSecond(work: () => unknown): number {
  const begun = process.cpuUsage();
  for (let done = 0; done < COUNT; done += 1) work();
  const { user, system } = process.cpuUsage(begun);
  return (COUNT * 1e6) / (user + system);
}

/** ES256 signatures that one core makes in a second with OpenSSL. */
export function rawSigns(): number {
  const { privateKey: key } = newKeyPair({ type: 'ec', curve: 'P-256' });
  return perSecond(() => sign('sha256', MESSAGE, { key, dsaEncoding: 'ieee-p1363' }));
}

/** ES256 signatures that one core verifies in a second with OpenSSL. */
export function rawVerifies(): number {
  const { privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
  const signature = sign('sha256', MESSAGE, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const key = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' } as const;
  return perSecond(() => verify('sha256', MESSAGE, key, signature));
}
