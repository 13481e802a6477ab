import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { concatBytes } from '../../core/bytes.js';

type Execute = PGlite['execProtocolStream'];

/** The messages that only begin a query: the engine answers them together with what follows. */
const BEGINS: ReadonlySet<number> = new Set([...'PBDEC'].map((letter) => letter.charCodeAt(0)));

/** Nothing else is served for this time and that of one query. */
const TURN_MS = 8;

/**
 * How the driver reaches the engine. The engine's adapter calls it for each message of the protocol, five for a statement
 * with values; here these are kept until the message that ends the query, and go together. A call costs more than most
 * statements. The engine works on this thread and answers at once, so that queries that follow each other would let
 * nothing else be served: after some milliseconds of them, the next query waits for a turn of the event loop.
 */
export function engineConfig(engine: PGlite): ReturnType<typeof createPgConfig> {
  let begun: Uint8Array[] = [];
  /** When the first query of this turn of the event loop began. */
  let turnBegan: number | undefined;
  const beginTurn = (): void => {
    turnBegan = performance.now();
    setImmediate(() => {
      turnBegan = undefined;
    });
  };
  const execProtocolStream: Execute = async (message, options) => {
    // The driver uses the bytes again for its next message.
    begun.push(Uint8Array.from(message));
    if (BEGINS.has(message[0]!)) return [];
    const query = concatBytes(...begun);
    begun = [];
    if (turnBegan !== undefined && performance.now() - turnBegan >= TURN_MS) await nextTurn();
    if (turnBegan === undefined) beginTurn();
    return engine.execProtocolStream(query, options);
  };
  return createPgConfig({ waitReady: engine.waitReady, execProtocolStream } as PGlite);
}
