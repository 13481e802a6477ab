import type { Route } from './http/route.js';

/** Which part of the program a process plays. */
export type Role = 'all' | 'api' | 'ledger' | 'worker';

/** Work that no request waits for. If several processes run it, only one at a time does the work. */
export interface BackgroundJob {
  readonly roles: readonly Role[];
  start(): Promise<{ close(): Promise<void> }>;
}

/** For housekeeping: every process but those that only serve the interface. */
export const HOUSEKEEPING_ROLES: readonly Role[] = ['all', 'ledger', 'worker'];
/** For work that grows with use. */
export const WORKER_ROLES: readonly Role[] = ['all', 'worker'];

export function servesInterface({ role }: { readonly role: Role }): boolean {
  return role === 'all' || role === 'api';
}

/** A part of the service: what it serves, what it does in the background, and how it ends. */
export interface Feature {
  /** Routes by the name of their group in the interface: `v2/assets`. */
  readonly routes?: Readonly<Record<string, readonly Route[]>>;
  readonly jobs?: readonly BackgroundJob[];
  /** Ends responses that would go on for ever. Called first, so that the listeners can close. */
  endResponses?(): void;
  /** Called after the listeners and the jobs have closed. */
  close?(): Promise<void>;
}
