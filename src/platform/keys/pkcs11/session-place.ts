import { isAnswer } from './pkcs11-constants.js';
import type { Pkcs11Session } from './pkcs11-session.js';

/** Return values after which a new session may succeed: the module or its token was away, or was initialized again. */
const LOST = [
  'CKR_DEVICE_ERROR',
  'CKR_DEVICE_REMOVED',
  'CKR_KEY_HANDLE_INVALID',
  'CKR_OBJECT_HANDLE_INVALID',
  'CKR_OPERATION_ACTIVE',
  'CKR_OPERATION_NOT_INITIALIZED',
  'CKR_SESSION_CLOSED',
  'CKR_SESSION_HANDLE_INVALID',
  'CKR_TOKEN_NOT_PRESENT',
  'CKR_USER_NOT_LOGGED_IN',
  'CKR_CRYPTOKI_NOT_INITIALIZED',
] as const;

/** A place of one session, for one operation at a time. */
export interface SessionPlace {
  /** Runs the work in the session; retries once in a new session if the session was lost. */
  run<T>(work: (session: Pkcs11Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Returns a place whose session is opened when it is needed. */
export function sessionPlace(open: () => Promise<Pkcs11Session>): SessionPlace {
  let session: Pkcs11Session | undefined;
  return {
    async run(work) {
      const held = session;
      try {
        session ??= await open();
        return await work(session);
      } catch (error) {
        if (held === undefined || !isAnswer(error, LOST)) throw error;
      }
      session = undefined;
      await held.close();
      session = await open();
      return work(session);
    },
    close: async () => session?.close(),
  };
}
