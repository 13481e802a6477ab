import type koffi from 'koffi';
import { failureReason } from '../../explain-failure.js';
import { KeyModuleError } from './key-module-error.js';

/** Calls functions of shared libraries; needed only with a configured module. */
export type Koffi = typeof koffi;

/** @throws {Error} with a message for the operator if it is not installed */
export async function loadKoffi(): Promise<Koffi> {
  try {
    return (await import('koffi')).default;
  } catch (error) {
    throw new KeyModuleError(
      `it needs the optional package koffi, which cannot be loaded (${failureReason(error)}): run npm ci with optional packages, on a system that koffi is made for`,
    );
  }
}
