/** Stored data contradicts itself or the object store: the log must stop before anything more is signed. */
export class LogInconsistent extends Error {
  override readonly name = 'LogInconsistent';
}

/**
 * Another sequencer has taken over the log or changed it. Nothing of this round was stored; the other sequencer goes
 * on.
 */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * The clocks of the service and the database differ too much to assign times. It clears when the clocks agree again.
 */
export class ClockSkewed extends Error {
  override readonly name = 'ClockSkewed';
}
