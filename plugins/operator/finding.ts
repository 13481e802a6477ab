/** `change`: it works, but something should be changed; `broken`: captures or deliveries fail. */
export type FindingState = 'ok' | 'change' | 'broken';

/** The result of one check. It never contains a secret. */
export interface Finding {
  readonly check: string;
  readonly state: FindingState;
  readonly found: string;
  /** What to do about it. */
  readonly change?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found };
}

export function shouldChange(check: string, found: string, change: string): Finding {
  return { check, state: 'change', found, change };
}

export function broken(check: string, found: string, change: string): Finding {
  return { check, state: 'broken', found, change };
}
