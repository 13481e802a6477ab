/** What is stored contradicts itself or the object store: the log must stop before anything more is signed. */
export class LogInconsistent extends Error {
  override readonly name = 'LogInconsistent';
}

/** Another sequencer has taken the log over, or moved it on. Nothing of this round was kept; the other one goes on. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The service's clock and the database's differ too much to give out times. Passes when the clocks agree again. */
export class ClockSkewed extends Error {
  override readonly name = 'ClockSkewed';
}
