import type koffi from 'koffi';
import { failureReason } from '../../explain-failure.js';

/** Calls functions of shared libraries; only who configures a module needs it. */
export type Koffi = typeof koffi;

/** @throws {Error} for a person when it is not there */
export async function loadKoffi(): Promise<Koffi> {
  try {
    return (await import('koffi')).default;
  } catch (error) {
    throw new Error(
      `KEY_PROVIDER needs the optional package koffi, which cannot be loaded (${failureReason(error)}): npm ci installs it where it exists for the machine`,
    );
  }
}
