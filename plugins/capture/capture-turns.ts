import type { Memory } from '../memory/memory.js';

/** One capture of a vCon. */
export interface Turn<Value> {
  /** What its caller waits for. */
  readonly value: Value;
  /** The work after it, for which the vCon's next capture waits too. */
  readonly following: Promise<void>;
}

/** Runs a capture when all earlier ones of its vCon have ended. Rejects as the capture does. */
type InTurn = <Value>(uuid: string, capture: () => Promise<Turn<Value>>) => Promise<Value>;

/**
 * Makes captures of one vCon run one after the other, so that a change of consent is not seen twice: those of this
 * process, and those of other plugins that share the memory.
 */
export function createCaptureTurns(memory: Memory): InTurn {
  const last = new Map<string, Promise<unknown>>();

  async function holding<Value>(uuid: string, capture: () => Promise<Turn<Value>>): Promise<Turn<Value>> {
    const letGo = await memory.hold('vcons', uuid);
    try {
      const { value, following } = await capture();
      return { value, following: following.then(letGo) };
    } catch (error) {
      await letGo();
      throw error;
    }
  }

  return async (uuid, capture) => {
    const captured = (last.get(uuid) ?? Promise.resolve()).catch(() => undefined).then(() => holding(uuid, capture));
    const turn = captured.then(({ following }) => following);
    last.set(uuid, turn);
    const done = (): void => {
      if (last.get(uuid) === turn) last.delete(uuid);
    };
    turn.then(done, done);
    return (await captured).value;
  };
}
