import type { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { concatBytes } from '../../core/bytes.js';
import { loopTurn } from '../loop-turn.js';
import { type BindRequest, bindMessage, boundValues } from './bind-message.js';

type Execute = PGlite['execProtocolStream'];

/** The messages that only begin a query: the engine answers them together with what follows. */
const BEGINS: ReadonlySet<number> = new Set([...'PBDEC'].map((letter) => letter.charCodeAt(0)));
const BIND = 'B'.charCodeAt(0);

/**
 * How the driver reaches the engine. The engine's adapter calls it for each message of the protocol, five for a statement
 * with values; here these are kept until the message that ends the query, and go together. A call costs more than most
 * statements. The engine works on this thread and answers at once, so that queries that follow each other would let
 * nothing else be served: the next query waits for its turn of the event loop. Values become bytes in the same turn: the
 * driver has all statements of a transaction written at once, and the adapter takes 4 to 8 ms for a megabyte, Node 1.5.
 */
export function engineConfig(engine: PGlite): ReturnType<typeof createPgConfig> {
  let begun: Uint8Array[] = [];
  const binds: (() => Uint8Array)[] = [];
  const execProtocolStream: Execute = async (message, options) => {
    const isBind = message[0] === BIND;
    if (isBind || !BEGINS.has(message[0]!)) {
      const turn = loopTurn();
      if (turn) await turn;
    }
    // The driver uses the bytes again for its next message.
    begun.push(isBind ? binds.shift()!() : message.slice());
    if (BEGINS.has(message[0]!)) return [];
    const query = concatBytes(...begun);
    begun = [];
    return engine.execProtocolStream(query, options);
  };
  const config = createPgConfig({ waitReady: engine.waitReady, execProtocolStream } as PGlite);
  const { connection } = config;
  const bindNothing = connection.bind.bind(connection);
  connection.bind = (request: BindRequest) => {
    const values = boundValues(request);
    binds.push(() => bindMessage(request, values));
    bindNothing({});
  };
  return config;
}
