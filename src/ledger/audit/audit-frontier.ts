/** A state of a log, derived again from its leaves. */
export interface DerivedState {
  readonly size: bigint;
  readonly leaves: bigint;
  readonly peaks: readonly Uint8Array[];
  readonly lastIdtimestamp: bigint;
}

/** The state of a log at one of its seals, up to which a run of an audit has come. */
export interface AuditFrontier extends DerivedState {
  readonly sealNumber: bigint;
}
