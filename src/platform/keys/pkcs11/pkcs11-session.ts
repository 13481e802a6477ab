import type { Attribute, CallMemory } from './call-memory.js';
import { KeyModuleError } from './key-module-error.js';
import type { PinFile } from './pin-file.js';
import { CKA, CKO_PRIVATE_KEY, CKU_USER, isAnswer, SESSION_FLAGS } from './pkcs11-constants.js';
import type { Pkcs11Module } from './pkcs11-module.js';
import type { Pkcs11Token } from './pkcs11-uri.js';

const MOST_SLOTS = 256;
const REFUSED_PIN = ['CKR_PIN_INCORRECT', 'CKR_PIN_INVALID', 'CKR_PIN_LEN_RANGE'] as const;
const TOKEN_INFO_BYTES = 256;
const MOST_MECHANISMS = 1024;
const MOST_SIGNATURE_BYTES = 1024;
const MOST_ATTRIBUTE_BYTES = 1024;

/** A key pair in the token, by its handles within a session. */
export interface KeyPairHandles {
  readonly publicKey: bigint;
  readonly privateKey: bigint;
}

/** A logged-in session with a token. It does one thing at a time. */
export interface Pkcs11Session {
  /** The private key of an id, if there is one. Each session searches for it only once. */
  findPrivateKey(id: Uint8Array): Promise<bigint | undefined>;
  /** The mechanisms that the token supports. */
  mechanisms(): Promise<readonly bigint[]>;
  sign(key: bigint, mechanism: bigint, data: Uint8Array): Promise<Uint8Array>;
  generateKeyPair(
    mechanism: bigint,
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): Promise<KeyPairHandles>;
  attribute(object: bigint, type: bigint): Promise<Uint8Array>;
  setAttributes(object: bigint, attributes: readonly Attribute[]): Promise<void>;
  close(): Promise<void>;
}

/** @throws {Error} with a message for the operator if there is no such token, or it refuses the PIN */
export async function openPkcs11Session(
  module: Pkcs11Module,
  token: Pkcs11Token,
  pin: PinFile,
): Promise<Pkcs11Session> {
  await module.initialize();
  const memory = module.memory();
  try {
    const slot = await findSlot(module, memory, token);
    memory.clear();
    const handle = memory.ulong();
    await module.call('C_OpenSession', slot, SESSION_FLAGS, null, null, handle.address);
    const session = handle.value();
    await logIn(module, memory, session, pin).catch(async (error: unknown) => {
      await module.call('C_CloseSession', session).catch(() => undefined);
      throw error;
    });
    return sessionOf(module, memory, slot, session);
  } catch (error) {
    memory.free();
    throw error;
  }
}

async function findSlot(module: Pkcs11Module, memory: CallMemory, token: Pkcs11Token): Promise<bigint> {
  const labels: string[] = [];
  const found: bigint[] = [];
  for (const slot of await listNumbers(memory, MOST_SLOTS, (...room) => module.call('C_GetSlotList', 1, ...room))) {
    memory.clear();
    const info = memory.room(TOKEN_INFO_BYTES);
    const known = await module.call('C_GetTokenInfo', slot, info.address).then(
      () => true,
      () => false,
    );
    if (!known) continue;
    // CK_TOKEN_INFO: label, manufacturer, model, serial number; padded with blanks.
    const text = (from: number, to: number) => Buffer.from(info.bytes().subarray(from, to)).toString('utf8').trimEnd();
    const label = text(0, 32);
    if (label !== '') labels.push(JSON.stringify(label));
    if (label === token.token && (token.serial === undefined || text(80, 96) === token.serial)) found.push(slot);
  }
  if (found.length === 1) return found[0]!;
  const wanted = `token ${JSON.stringify(token.token)}${token.serial === undefined ? '' : ' of that serial number'}`;
  if (found.length > 1)
    throw new KeyModuleError(`the module has more than one ${wanted}: add its serial number (serial=…)`);
  throw new KeyModuleError(
    `the module has no ${wanted}; it has ${labels.sort().join(', ') || 'none'}: set token to the one with the keys`,
    'CKR_TOKEN_NOT_PRESENT',
  );
}

/** Numbers that a call writes into a list, and their count. */
async function listNumbers(
  memory: CallMemory,
  most: number,
  call: (list: bigint, count: bigint) => Promise<void>,
): Promise<bigint[]> {
  const [count, list] = [memory.ulong(BigInt(most)), memory.room(most * 8)];
  await call(list.address, count.address);
  const bytes = Buffer.from(list.bytes());
  return Array.from({ length: Number(count.value()) }, (_, place) => bytes.readBigUInt64LE(place * 8));
}

async function findObject(
  module: Pkcs11Module,
  memory: CallMemory,
  session: bigint,
  attributes: readonly Attribute[],
): Promise<bigint | undefined> {
  memory.clear();
  await module.call('C_FindObjectsInit', session, ...memory.template(attributes));
  const [object, count] = [memory.ulong(), memory.ulong()];
  await module.call('C_FindObjects', session, object.address, 1, count.address);
  await module.call('C_FindObjectsFinal', session);
  return count.value() > 0n ? object.value() : undefined;
}

async function logIn(module: Pkcs11Module, memory: CallMemory, session: bigint, pin: PinFile): Promise<void> {
  const bytes = await pin.read();
  try {
    await module.call('C_Login', session, CKU_USER, memory.put(bytes), bytes.length);
  } catch (error) {
    // The log-in applies to the whole process, so that of another session is enough.
    if (isAnswer(error, ['CKR_USER_ALREADY_LOGGED_IN'])) return;
    if (!isAnswer(error, REFUSED_PIN)) throw error;
    pin.refused();
    throw new KeyModuleError(`the token refuses the PIN of pin-source (${error.code}): put the right one there`);
  } finally {
    memory.clear();
  }
}

function sessionOf(module: Pkcs11Module, memory: CallMemory, slot: bigint, session: bigint): Pkcs11Session {
  const handles = new Map<string, bigint>();
  return {
    async findPrivateKey(id) {
      const name = Buffer.from(id).toString('base64url');
      const handle =
        handles.get(name) ??
        (await findObject(module, memory, session, [
          [CKA.class, CKO_PRIVATE_KEY],
          [CKA.id, id],
        ]));
      if (handle !== undefined) handles.set(name, handle);
      return handle;
    },
    async mechanisms() {
      memory.clear();
      return listNumbers(memory, MOST_MECHANISMS, (...room) => module.call('C_GetMechanismList', slot, ...room));
    },
    async sign(key, mechanism, data) {
      memory.clear();
      await module.call('C_SignInit', session, memory.mechanism(mechanism), key);
      const [signature, length] = [memory.room(MOST_SIGNATURE_BYTES), memory.ulong(BigInt(MOST_SIGNATURE_BYTES))];
      await module.call('C_Sign', session, memory.put(data), data.length, signature.address, length.address);
      return signature.bytes(Number(length.value()));
    },
    async generateKeyPair(mechanism, publicTemplate, privateTemplate) {
      memory.clear();
      const templates = [...memory.template(publicTemplate), ...memory.template(privateTemplate)];
      const [publicKey, privateKey] = [memory.ulong(), memory.ulong()];
      const made = [publicKey.address, privateKey.address];
      await module.call('C_GenerateKeyPair', session, memory.mechanism(mechanism), ...templates, ...made);
      return { publicKey: publicKey.value(), privateKey: privateKey.value() };
    },
    async attribute(object, type) {
      memory.clear();
      const value = memory.room(MOST_ATTRIBUTE_BYTES);
      const row = [type, value.address, BigInt(MOST_ATTRIBUTE_BYTES)].map((word) => memory.ulong(word));
      await module.call('C_GetAttributeValue', session, object, row[0]!.address, 1);
      return value.bytes(Number(row[2]!.value()));
    },
    async setAttributes(object, attributes) {
      memory.clear();
      await module.call('C_SetAttributeValue', session, object, ...memory.template(attributes));
    },
    async close() {
      await module.call('C_CloseSession', session).catch(() => undefined);
      memory.free();
    },
  };
}
