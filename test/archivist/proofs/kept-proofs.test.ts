import { expect, it } from 'vitest';
import { createKeptProofs } from '../../../src/archivist/proofs/kept-proofs.js';
import { encodeCbor } from '../../../src/core/cose/cbor.js';
import { Header } from '../../../src/core/cose/labels.js';
import { encodeSign1 } from '../../../src/core/cose/sign1.js';
import { createTestKeyring } from '../../ledger/test-keyring.js';

const ADDRESS = { tenantId: 'tenant', eventId: 'event', proof: 'receipt', form: 'map' };

/** Keys that are rotated and revoked as in a theft, and a proof by the key of the moment. */
function scene() {
  const keyring = createTestKeyring();
  const message = (kid: Uint8Array, receipts?: Uint8Array[]) =>
    encodeSign1({
      protectedBytes: encodeCbor(new Map([[Header.kid, kid]])),
      unprotectedHeader: receipts ? new Map([[Header.receipts, receipts]]) : new Map(),
      payload: null,
      signature: new Uint8Array(64),
    });
  const creator = { creatorIssuer: '', creatorSubject: '' };
  const receipt = () => ({ bytes: message(keyring.signer('seal').kid), creator });
  const statement = () => ({ bytes: message(Uint8Array.of(7), [receipt().bytes]), creator });
  const revoke = () => {
    keyring.rotate('seal');
    keyring.revokeEarlier('seal');
  };
  return { kept: createKeptProofs(keyring), receipt, statement, revoke };
}

it('a proof that was being made when its key was revoked is not served afterwards', () => {
  const { kept, receipt, revoke } = scene();
  const { keep } = kept();
  const made = receipt();
  revoke();
  keep(ADDRESS, made);
  expect(kept().find(ADDRESS)).toBeUndefined();
});

it('a proof by a revoked key is not kept: a later seal replaces it', () => {
  const { kept, receipt, statement, revoke } = scene();
  const old = [receipt(), statement()];
  revoke();
  for (const proof of old) {
    kept().keep(ADDRESS, proof);
    expect(kept().find(ADDRESS)).toBeUndefined();
  }
  for (const proof of [receipt(), statement()]) {
    kept().keep(ADDRESS, proof);
    expect(kept().find(ADDRESS)).toBe(proof);
  }
});
