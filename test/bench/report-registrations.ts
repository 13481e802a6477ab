import type { EngineName } from './engines.js';
import { figure, ratio } from './report-figure.js';

/** Registrations per second of each round. */
export interface Registrations {
  readonly engine: EngineName;
  /** Of one round. */
  readonly statements: number;
  readonly inFlight: number;
  readonly synchronous: readonly number[];
  readonly asynchronous: readonly number[];
  /** Of the asynchronous rounds, until the last was accepted. */
  readonly accepted: readonly number[];
}

const GOAL = 0.8;

/** By engine: registrations that wait for their receipts against registrations whose receipts come later. */
export function registrationReport(measured: readonly Registrations[]): Record<string, unknown> {
  const unit = 'registrations/s';
  return Object.fromEntries(
    measured.map(({ engine, statements, inFlight, synchronous, asynchronous, accepted }) => [
      engine,
      {
        statements,
        inFlight,
        synchronous: figure(synchronous, `${unit}, each answered 201 with its receipt`),
        asynchronous: figure(asynchronous, `${unit}, answered 303, until the last receipt is there`),
        accepted: figure(accepted, `${unit}, answered 303`),
        synchronousToAsynchronous: ratio(
          synchronous,
          asynchronous,
          'both until the last receipt is there, rounds in turn',
          GOAL,
        ),
      },
    ]),
  );
}
