import { KeyModuleError } from './key-module-error.js';

/** Numbers of PKCS #11 (OASIS, version 2.40; EdDSA of 3.0), by the names that they have there. */

export const CKO_PRIVATE_KEY = 3n;

export const CKA = {
  class: 0x000n,
  token: 0x001n,
  private: 0x002n,
  label: 0x003n,
  id: 0x102n,
  sensitive: 0x103n,
  sign: 0x108n,
  verify: 0x10an,
  modulus: 0x120n,
  modulusBits: 0x121n,
  publicExponent: 0x122n,
  extractable: 0x162n,
  ecParams: 0x180n,
  ecPoint: 0x181n,
} as const;

export const CKM = {
  rsaKeyPairGen: 0x0000n,
  sha256RsaPkcs: 0x0040n,
  ecKeyPairGen: 0x1040n,
  ecdsa: 0x1041n,
  edwardsKeyPairGen: 0x1055n,
  eddsa: 0x1057n,
} as const;

/** CKF_SERIAL_SESSION and CKF_RW_SESSION: keys are made in the sessions that sign. */
export const SESSION_FLAGS = 0x6n;
export const CKF_OS_LOCKING_OK = 0x2n;
export const CKU_USER = 1n;

/** Return values of calls that appear in messages or that we handle. */
const RETURN_VALUES = {
  CKR_OK: 0x000,
  CKR_SLOT_ID_INVALID: 0x003,
  CKR_GENERAL_ERROR: 0x005,
  CKR_FUNCTION_FAILED: 0x006,
  CKR_ARGUMENTS_BAD: 0x007,
  CKR_ATTRIBUTE_READ_ONLY: 0x010,
  CKR_ATTRIBUTE_SENSITIVE: 0x011,
  CKR_ATTRIBUTE_TYPE_INVALID: 0x012,
  CKR_ATTRIBUTE_VALUE_INVALID: 0x013,
  CKR_DEVICE_ERROR: 0x030,
  CKR_DEVICE_MEMORY: 0x031,
  CKR_DEVICE_REMOVED: 0x032,
  CKR_FUNCTION_NOT_SUPPORTED: 0x054,
  CKR_KEY_HANDLE_INVALID: 0x060,
  CKR_KEY_FUNCTION_NOT_PERMITTED: 0x068,
  CKR_MECHANISM_INVALID: 0x070,
  CKR_MECHANISM_PARAM_INVALID: 0x071,
  CKR_OBJECT_HANDLE_INVALID: 0x082,
  CKR_OPERATION_ACTIVE: 0x090,
  CKR_OPERATION_NOT_INITIALIZED: 0x091,
  CKR_PIN_INCORRECT: 0x0a0,
  CKR_PIN_INVALID: 0x0a1,
  CKR_PIN_LEN_RANGE: 0x0a2,
  CKR_PIN_EXPIRED: 0x0a3,
  CKR_PIN_LOCKED: 0x0a4,
  CKR_SESSION_CLOSED: 0x0b0,
  CKR_SESSION_COUNT: 0x0b1,
  CKR_SESSION_HANDLE_INVALID: 0x0b3,
  CKR_SESSION_READ_ONLY: 0x0b5,
  CKR_TEMPLATE_INCONSISTENT: 0x0d1,
  CKR_TOKEN_NOT_PRESENT: 0x0e0,
  CKR_TOKEN_NOT_RECOGNIZED: 0x0e1,
  CKR_TOKEN_WRITE_PROTECTED: 0x0e2,
  CKR_USER_ALREADY_LOGGED_IN: 0x100,
  CKR_USER_NOT_LOGGED_IN: 0x101,
  CKR_USER_PIN_NOT_INITIALIZED: 0x102,
  CKR_DOMAIN_PARAMS_INVALID: 0x130,
  CKR_CURVE_NOT_SUPPORTED: 0x140,
  CKR_CRYPTOKI_NOT_INITIALIZED: 0x190,
  CKR_CRYPTOKI_ALREADY_INITIALIZED: 0x191,
} as const;
type ReturnValue = keyof typeof RETURN_VALUES;

const NAMES = new Map<number, string>(Object.entries(RETURN_VALUES).map(([name, value]) => [value, name]));

/** @throws {KeyModuleError} unless a call returned CKR_OK */
export function requireOk(value: number, call: string): void {
  if (value === RETURN_VALUES.CKR_OK) return;
  const code = NAMES.get(value) ?? `CKR 0x${value.toString(16)}`;
  throw new KeyModuleError(`the module answers ${code} to ${call}: its own configuration or log says why`, code);
}

/** Whether an error is one of these return values of a module. */
export function isAnswer(error: unknown, codes: readonly ReturnValue[]): error is KeyModuleError {
  return error instanceof KeyModuleError && codes.some((code) => code === error.code);
}
