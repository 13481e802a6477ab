import { TimeLimitError, within } from '../../time-limit.js';
import { KeyModuleError } from './key-module-error.js';
import type { Pkcs11Session } from './pkcs11-session.js';
import { type SessionPlace, sessionPlace } from './session-place.js';

/** A module that has not answered for so long counts as away. */
const ANSWER_WITHIN_MS = 10_000;

/** A few sessions that many callers share, each for one operation at a time. */
export interface SessionPool {
  /**
   * Runs the work in a session; retries once in a new session if the session was lost. Work that does not end in time
   * keeps its session until it ends: its memory is in use by the module.
   * @throws {KeyModuleError} if no session is free in time, or the work does not end in time
   */
  run<T>(work: (session: Pkcs11Session) => Promise<T>): Promise<T>;
  /** Waits for the work in progress and closes the sessions. */
  close(): Promise<void>;
}

/** @param open makes a session; called by one caller at a time, so that a wrong PIN is tried once */
export function createSessionPool(
  size: number,
  open: () => Promise<Pkcs11Session>,
  answerWithinMs = ANSWER_WITHIN_MS,
): SessionPool {
  // The place returned last is used next: no more sessions are opened than needed.
  const idle = Array.from({ length: size }, () => sessionPlace(openNext));
  const waiting: ((place: SessionPlace) => void)[] = [];
  let opening: Promise<unknown> = Promise.resolve();

  function openNext(): Promise<Pkcs11Session> {
    const opened = opening.then(open, open);
    opening = opened.catch(() => undefined);
    return opened;
  }

  function take(): Promise<SessionPlace> {
    const place = idle.pop();
    return place ? Promise.resolve(place) : new Promise((resolve) => waiting.push(resolve));
  }

  async function inTime<T>(work: Promise<T>): Promise<T> {
    return within(answerWithinMs, work, 'the module does not answer in time').catch((error: unknown) => {
      throw error instanceof TimeLimitError ? new KeyModuleError(error.message) : error;
    });
  }

  async function takeInTime(): Promise<SessionPlace> {
    let late = false;
    const taken = take();
    void taken.then((place) => late && giveBack(place));
    return inTime(taken).catch((error: unknown) => {
      late = true;
      throw error;
    });
  }

  function giveBack(place: SessionPlace): void {
    const next = waiting.shift();
    if (next) next(place);
    else idle.push(place);
  }

  return {
    async run(work) {
      const place = await takeInTime();
      const running = place.run(work).finally(() => giveBack(place));
      return inTime(running);
    },
    async close() {
      const places = await Promise.all(Array.from({ length: size }, take));
      for (const place of places) await place.close();
    },
  };
}
