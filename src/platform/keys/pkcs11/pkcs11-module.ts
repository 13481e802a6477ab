import { failureReason } from '../../explain-failure.js';
import { type CallMemory, callMemory } from './call-memory.js';
import { KeyModuleError } from './key-module-error.js';
import { type Koffi, loadKoffi } from './load-koffi.js';
import { CKF_OS_LOCKING_OK, isAnswer, requireOk } from './pkcs11-constants.js';

const SESSION = 'ulong';
const ADDRESS = 'void *';
const COUNT = 'ulong';

/** Position of a function in CK_FUNCTION_LIST, and its parameters. */
const FUNCTIONS = {
  C_Initialize: [0, ADDRESS],
  C_Finalize: [1, ADDRESS],
  C_GetSlotList: [4, 'uint8_t', ADDRESS, ADDRESS],
  C_GetTokenInfo: [6, 'ulong', ADDRESS],
  C_GetMechanismList: [7, 'ulong', ADDRESS, ADDRESS],
  C_OpenSession: [12, 'ulong', 'ulong', ADDRESS, ADDRESS, ADDRESS],
  C_CloseSession: [13, SESSION],
  C_Login: [18, SESSION, 'ulong', ADDRESS, COUNT],
  C_GetAttributeValue: [24, SESSION, 'ulong', ADDRESS, COUNT],
  C_SetAttributeValue: [25, SESSION, 'ulong', ADDRESS, COUNT],
  C_FindObjectsInit: [26, SESSION, ADDRESS, COUNT],
  C_FindObjects: [27, SESSION, ADDRESS, COUNT, ADDRESS],
  C_FindObjectsFinal: [28, SESSION],
  C_SignInit: [42, SESSION, ADDRESS, 'ulong'],
  C_Sign: [43, SESSION, ADDRESS, COUNT, ADDRESS, ADDRESS],
  C_GenerateKeyPair: [59, SESSION, ADDRESS, ADDRESS, COUNT, ADDRESS, COUNT, ADDRESS, ADDRESS],
} as const satisfies Readonly<Record<string, readonly [place: number, ...types: string[]]>>;
type FunctionName = keyof typeof FUNCTIONS;

const FUNCTION_COUNT = 68;
const POINTER = 8;

/** By their paths. A library without a reference would be unloaded during calls. */
const loaded = new Map<string, ReturnType<Koffi['load']>>();

/** A loaded PKCS #11 module, as one thread of the process sees it; others may have it open too. */
export interface Pkcs11Module {
  /** Calls a function on a thread of its own. @throws {KeyModuleError} unless it returns CKR_OK */
  call(name: FunctionName, ...values: readonly (number | bigint | null)[]): Promise<void>;
  memory(): CallMemory;
  /** Initializes the module, or finds it initialized. */
  initialize(): Promise<void>;
  /**
   * Finalizes the module and initializes it again; this thread must have no call in progress. All sessions are lost.
   */
  beginAnew(): Promise<void>;
}

/** @throws {Error} with a message for the operator if this machine cannot load it, or it is not a PKCS #11 module */
export async function loadPkcs11Module(path: string): Promise<Pkcs11Module> {
  const koffi = await loadKoffi();
  if (koffi.sizeof('ulong') !== POINTER || koffi.sizeof('void *') !== POINTER)
    throw new KeyModuleError('PKCS #11 modules are supported on 64-bit Linux and macOS');
  const functions = functionsOf(koffi, path);
  const memory = () => callMemory(koffi);
  const underWay = new Set<Promise<unknown>>();
  let renewing: Promise<void> | undefined;

  const callNow: Pkcs11Module['call'] = async (name, ...values) => {
    const answer = functions(name, values);
    underWay.add(answer);
    requireOk(await answer.finally(() => underWay.delete(answer)), name);
  };

  async function initialize(): Promise<void> {
    const held = memory();
    try {
      // CK_C_INITIALIZE_ARGS: no mutex functions, flags, nothing reserved.
      const rows = [0n, 0n, 0n, 0n, CKF_OS_LOCKING_OK, 0n].map((word) => held.ulong(word).address);
      await callNow('C_Initialize', rows[0]!);
    } catch (error) {
      if (!isAnswer(error, ['CKR_CRYPTOKI_ALREADY_INITIALIZED'])) throw error;
    } finally {
      held.free();
    }
  }

  async function renew(): Promise<void> {
    await Promise.allSettled(underWay);
    await callNow('C_Finalize', null).catch(() => undefined);
    await initialize();
  }

  return {
    async call(name, ...values) {
      await renewing?.catch(() => undefined);
      return callNow(name, ...values);
    },
    memory,
    initialize,
    beginAnew() {
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}

type CallFunction = (name: FunctionName, values: readonly (number | bigint | null)[]) => Promise<number>;

function functionsOf(koffi: Koffi, path: string): CallFunction {
  const addresses = functionList(koffi, path);
  const called = new Map(
    Object.entries(FUNCTIONS).map(([name, [place, ...types]]) => {
      return [name, koffi.decode(addresses[place]!, koffi.proto('ulong', [...types]))] as const;
    }),
  );
  return (name, values) =>
    new Promise((resolve, reject) => {
      called.get(name).async(...values, (error: unknown, answer: number | bigint) => {
        if (error) reject(error);
        else resolve(Number(answer));
      });
    });
}

/** The addresses in CK_FUNCTION_LIST, which begins with a version of two bytes. */
function functionList(koffi: Koffi, path: string): readonly bigint[] {
  const memory = callMemory(koffi);
  try {
    // Node.js has its own OpenSSL; a module that was built for the system's must not be linked to it.
    const library = loaded.get(path) ?? koffi.load(path, { deep: true });
    const list = memory.ulong();
    requireOk(Number(library.func('C_GetFunctionList', 'ulong', [ADDRESS])(list.address)), 'C_GetFunctionList');
    loaded.set(path, library);
    return [...koffi.decode(list.value(), POINTER, 'uint64_t', FUNCTION_COUNT)];
  } catch (error) {
    throw new KeyModuleError(
      `${path} cannot be loaded as a PKCS #11 module (${failureReason(error)}): install it, or set module-path to where it is`,
    );
  } finally {
    memory.free();
  }
}
