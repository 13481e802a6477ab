import { fromBase64, toBase64, toHex } from '../../core/bytes.js';
import type { SigningKeyRow } from '../../platform/keys/signing-key-store.js';
import { readSubjectKeys, SELF, type Subject } from './subject.js';

/** Self of a new tenancy, from its wallet key and its tessera key. @throws {TypeError} if one of them is missing */
export function selfSubject(tenantId: string, keys: readonly SigningKeyRow[], createdAt: Date): Subject {
  const wallet = toHex(pointOf(keys, 'wallet'));
  const tessera = toBase64(pointOf(keys, 'tessera'));
  return { tenantId, subjectId: SELF, displayName: 'Self', ...readSubjectKeys([wallet], [tessera]), createdAt };
}

/** Uncompressed: 04, x and y. */
function pointOf(keys: readonly SigningKeyRow[], role: 'wallet' | 'tessera'): Uint8Array {
  const key = keys.find((each) => each.role === role && each.state === 'active');
  if (!key) throw new TypeError(`a tenancy without an active ${role} key`);
  return new Uint8Array([4, ...fromBase64(key.publicJwk['x']!), ...fromBase64(key.publicJwk['y']!)]);
}
