import { WitnessRefused } from './witness.js';

/** Ends the wait for slow witnesses. */
interface QuorumGrace {
  /** Resolves or rejects as the answer of a witness does. @throws {WitnessRefused} if the grace ends before */
  answerOf(answer: Promise<string>): Promise<string>;
  /** Ends the timer. */
  close(): void;
}

/**
 * Returns a grace that ends `graceMs` after the other witnesses cannot change the result: as many as `quorum` have
 * cosigned, or so many have refused that a quorum is out of reach.
 * @param asked how many witnesses are asked
 * @param quorum infinite if all of them have their time
 */
export function quorumGrace(asked: number, quorum: number, graceMs: number): QuorumGrace {
  let cosigned = 0;
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;
  let end: () => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    end = () =>
      reject(new WitnessRefused(`it did not answer within ${graceMs} ms after the others had decided the round`));
  });
  const settle = () => {
    if (cosigned === quorum || refused === asked - quorum + 1) timer ??= setTimeout(end, graceMs);
  };
  return {
    async answerOf(answer) {
      try {
        const line = await Promise.race([answer, over]);
        cosigned += 1;
        return line;
      } catch (error) {
        refused += 1;
        throw error;
      } finally {
        settle();
      }
    },
    close: () => clearTimeout(timer),
  };
}
