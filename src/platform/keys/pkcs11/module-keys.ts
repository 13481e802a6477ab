import { randomUUID } from 'node:crypto';
import { fromBase64, utf8 } from '../../../core/bytes.js';
import { keyIdOf } from '../key-id.js';
import { KEY_KINDS, type KeyRole } from '../key-role.js';
import type { KeyStore, PrivateKey, StoredKey } from '../key-store.js';
import type { Attribute } from './call-memory.js';
import { KEY_MECHANISMS, type KeyMechanism } from './key-mechanism.js';
import { KeyModuleError } from './key-module-error.js';
import { pinFile } from './pin-file.js';
import { CKA, isAnswer } from './pkcs11-constants.js';
import { loadPkcs11Module } from './pkcs11-module.js';
import { type KeyPairHandles, openPkcs11Session, type Pkcs11Session } from './pkcs11-session.js';
import type { Pkcs11Token } from './pkcs11-uri.js';
import { rememberSignatures } from './remembered-signatures.js';
import { createSessionPool, type SessionPool } from './session-pool.js';

/**
 * Maximum number of concurrent signatures in the module; others wait. Fewer than Node.js has threads for such calls and
 * for files (four), so that a module that does not answer does not stop access to files.
 */
const SESSIONS = 3;

/** Some modules look for a reconnected device only after they are initialized again. */
const GONE = ['CKR_DEVICE_ERROR', 'CKR_DEVICE_REMOVED', 'CKR_TOKEN_NOT_PRESENT'] as const;

/** The module does not support keys of this kind. */
export class UnsupportedKeyError extends Error {
  override readonly name = 'UnsupportedKeyError';
}

const UNSUPPORTED = [
  'CKR_MECHANISM_INVALID',
  'CKR_MECHANISM_PARAM_INVALID',
  'CKR_FUNCTION_NOT_SUPPORTED',
  'CKR_CURVE_NOT_SUPPORTED',
  'CKR_DOMAIN_PARAMS_INVALID',
  'CKR_ATTRIBUTE_VALUE_INVALID',
] as const;

/**
 * Keys in a token of a PKCS #11 module: created there, never extracted, and found by CKA_ID, the bytes of the key id
 * (CKA_LABEL has it as text). Opens a session once, so that faults appear at startup.
 * @throws {Error} with a message for the operator, if the module, the token or its PIN cannot be used
 */
export async function openModuleKeys(token: Pkcs11Token): Promise<KeyStore> {
  const module = await loadPkcs11Module(token.modulePath);
  const pin = pinFile(token.pinFile);
  const openSession = () => openPkcs11Session(module, token, pin);
  const pool = createSessionPool(SESSIONS, () =>
    openSession().catch(async (error: unknown) => {
      if (!isAnswer(error, GONE)) throw error;
      await module.beginAnew();
      return openSession();
    }),
  );
  await pool.run(async () => undefined);
  return {
    generate: (role) => pool.run((session) => generateIn(session, role)),
    open: (key) => openKey(pool, key),
    advice: () => `name the module and the token that have it (KEY_PROVIDER names ${JSON.stringify(token.token)})`,
    close: () => pool.close(),
  };
}

function mechanismOf(role: KeyRole): KeyMechanism {
  return KEY_MECHANISMS[KEY_KINDS[role].algorithm]!;
}

/** A crash before the pair has its id leaves an unused pair, whose label says so. */
async function generateIn(session: Pkcs11Session, role: KeyRole) {
  const mechanism = mechanismOf(role);
  const pair = await makePair(session, role, mechanism).catch((error: unknown) => {
    if (!isAnswer(error, UNSUPPORTED)) throw error;
    const { algorithm } = KEY_KINDS[role];
    throw new UnsupportedKeyError(`KEY_PROVIDER: the module makes no ${algorithm} key for ${role} (${error.code})`);
  });
  const publicJwk = await mechanism.publicJwk((type) => session.attribute(pair.publicKey, type));
  const keyId = await keyIdOf(publicJwk);
  const named: Attribute[] = [
    [CKA.id, fromBase64(keyId)],
    [CKA.label, utf8(keyId)],
  ];
  await session.setAttributes(pair.publicKey, named);
  await session.setAttributes(pair.privateKey, named);
  return { keyId, publicJwk };
}

async function makePair(session: Pkcs11Session, role: KeyRole, mechanism: KeyMechanism): Promise<KeyPairHandles> {
  const known = await session.mechanisms();
  for (const needed of [mechanism.generate, mechanism.sign])
    if (!known.includes(needed)) throw new KeyModuleError('the token lacks a mechanism', 'CKR_MECHANISM_INVALID');
  const unnamed: Attribute[] = [
    [CKA.token, true],
    [CKA.label, utf8(`unnamed ${role} ${randomUUID()}`)],
  ];
  return session.generateKeyPair(
    mechanism.generate,
    [...unnamed, ...mechanism.publicTemplate, [CKA.private, false], [CKA.verify, true]],
    [...unnamed, [CKA.private, true], [CKA.sensitive, true], [CKA.extractable, false], [CKA.sign, true]],
  );
}

async function openKey(pool: SessionPool, { role, keyId, publicJwk }: StoredKey): Promise<PrivateKey | undefined> {
  const mechanism = mechanismOf(role);
  const id = fromBase64(keyId);
  const find = (session: Pkcs11Session) => session.findPrivateKey(id);
  if ((await pool.run(find)) === undefined) return undefined;
  const key: PrivateKey = {
    place: 'module',
    async sign(message) {
      const input = mechanism.input(message);
      const signature = await pool.run(async (session) => {
        const handle = await find(session);
        if (handle === undefined)
          throw new KeyModuleError(`the private half of the key ${keyId} is gone from its token`);
        return session.sign(handle, mechanism.sign, input);
      });
      return mechanism.output ? mechanism.output(signature, message, publicJwk) : signature;
    },
  };
  return mechanism.sameEachTime ? rememberSignatures(key) : key;
}
