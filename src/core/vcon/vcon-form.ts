import { fromBase64, toHex } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import {
  isJsonList,
  isJsonObject,
  type JsonDocument,
  JsonError,
  type JsonObject,
  type JsonValue,
  readJson,
} from './json-document.js';

/** How a vCon is packed (draft-ietf-vcon-vcon-core): plain, as General JWS JSON, as General JWE JSON, or not readable. */
export type VconForm = 'unsigned' | 'signed' | 'encrypted' | 'malformed';

/** What can be read of a vCon without keys. Nothing in it is from the conversation. */
export interface VconInspection {
  readonly form: VconForm;
  /** In lower case. */
  readonly uuid?: string;
  /** Of a signed vCon: the uuid in it, if the header of a signature names another one. People read what is in it. */
  readonly uuidInside?: string;
  /** The texts as they stand in the vCon; of a signed one, in its innermost payload. */
  readonly updatedAt?: string;
  readonly createdAt?: string;
  /** The deprecated version member. */
  readonly vconMember?: string;
  /** Hex SHA-256 of the innermost payload's bytes of a signed vCon: equal however often it is signed again. */
  readonly innermostPayloadHash?: string;
  /** Why it is malformed, or what in it does not agree. Quotes nothing of the content. */
  readonly problem?: string;
  /** The document itself, when it is JSON. */
  readonly document?: JsonDocument;
  /** Of a signed vCon: its innermost payload, when that is readable JSON. */
  readonly content?: JsonObject;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LISTS = ['parties', 'dialog', 'analysis', 'attachments'] as const;
/** Archives sign again and again; more layers than this are no archive's. */
const MAX_SIGNATURE_LAYERS = 16;

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function uuidOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : undefined;
}

/** An object with only those of these members that are there. */
function present<Members extends object>(members: Members): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

function times(vcon: JsonObject) {
  return present({
    updatedAt: text(vcon.get('updated_at')),
    createdAt: text(vcon.get('created_at')),
    vconMember: text(vcon.get('vcon')),
  });
}

function isSigned(vcon: JsonObject): boolean {
  return typeof vcon.get('payload') === 'string' && isJsonList(vcon.get('signatures'));
}

function isEncrypted(vcon: JsonObject): boolean {
  return typeof vcon.get('ciphertext') === 'string' && isJsonList(vcon.get('recipients'));
}

function unsigned(vcon: JsonObject): VconInspection {
  const uuid = uuidOf(vcon.get('uuid'));
  const wrong = LISTS.find((name) => vcon.has(name) && !isJsonList(vcon.get(name)));
  const problem = !uuid ? 'it has no uuid' : wrong ? `${wrong} is not a list` : undefined;
  return { form: problem ? 'malformed' : 'unsigned', ...present({ uuid, problem }), ...times(vcon) };
}

/** The uuid that a signature's own header names. */
function headerUuid(jws: JsonObject): string | undefined {
  const signatures = jws.get('signatures');
  if (!isJsonList(signatures)) return undefined;
  for (const signature of signatures) {
    const header = isJsonObject(signature) ? signature.get('header') : undefined;
    const uuid = isJsonObject(header) ? uuidOf(header.get('uuid')) : undefined;
    if (uuid) return uuid;
  }
  return undefined;
}

interface Unwrapped {
  readonly payload: Uint8Array;
  /** The innermost payload when it is readable JSON; a gzipped one is not. */
  readonly vcon?: JsonObject;
}

function unwrap(jws: JsonObject, layers = 1): Unwrapped | undefined {
  let payload: Uint8Array;
  try {
    payload = fromBase64(text(jws.get('payload')) ?? '');
  } catch {
    return undefined;
  }
  let inner: JsonValue;
  try {
    inner = readJson(payload).value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { payload };
  }
  if (!isJsonObject(inner)) return { payload };
  if (isSigned(inner) && layers < MAX_SIGNATURE_LAYERS) return unwrap(inner, layers + 1);
  return { payload, vcon: inner };
}

function signed(jws: JsonObject, hash: Sha256): VconInspection {
  const named = headerUuid(jws);
  const unwrapped = unwrap(jws);
  if (!unwrapped)
    return { form: 'malformed', problem: 'the signed payload is not base64url', ...present({ uuid: named }) };
  const inside = uuidOf(unwrapped.vcon?.get('uuid'));
  const uuidInside = named && named !== inside ? inside : undefined;
  const problem =
    !named && !inside
      ? 'neither a signature header nor the payload has a uuid'
      : uuidInside && 'signature header and payload have different uuids';
  return {
    form: 'signed',
    innermostPayloadHash: toHex(hash(unwrapped.payload)),
    ...present({ uuid: named ?? inside, uuidInside, problem, content: unwrapped.vcon }),
    ...(unwrapped.vcon ? times(unwrapped.vcon) : {}),
  };
}

function encrypted(jwe: JsonObject): VconInspection {
  const unprotectedHeader = jwe.get('unprotected');
  const uuid = isJsonObject(unprotectedHeader) ? uuidOf(unprotectedHeader.get('uuid')) : undefined;
  return { form: 'encrypted', ...present({ uuid, problem: uuid ? undefined : 'the unprotected header has no uuid' }) };
}

/**
 * Detects the form of a vCon from its members, and returns what is needed to record an operation on it. Signatures are
 * not verified, and nothing is decrypted or unzipped. Never throws: a document that is not a vCon is `malformed`.
 */
export function inspectVcon(bytes: Uint8Array, hash: Sha256 = sha256): VconInspection {
  let document: JsonDocument;
  try {
    document = readJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { form: 'malformed', problem: error.message };
  }
  const { value } = document;
  if (!isJsonObject(value)) return { form: 'malformed', problem: 'it is not an object', document };
  const inspection = isSigned(value) ? signed(value, hash) : isEncrypted(value) ? encrypted(value) : unsigned(value);
  return { ...inspection, document };
}
