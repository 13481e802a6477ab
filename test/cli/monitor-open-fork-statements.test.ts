import { describe, expect, it } from 'vitest';
import { followStatementLog } from '../../src/cli/monitor/follow-statement-log.js';
import { utf8 } from '../../src/core/bytes.js';
import { encodeCbor } from '../../src/core/cose/cbor.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { type LogFork, signForkStatement } from '../../src/core/fork/fork-statement.js';
import { signRoot } from '../../src/core/receipt/rfc9162-receipt.js';
import { sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { followRig, withForks } from './follow-rig.js';
import { type Answer, sampleStatementLog } from './sample-published-logs.js';

const ISSUER = 'https://archive.example';
const { statementLog, stranger } = sampleSigners;
/** The keys of the log's receipts, where they are known. */
const KNOWN = [statementLog.publicKey];
const rig = followRig();

describe('monitor over an open fork of a statement log', () => {
  const ORIGIN = 'log/0192e8f5-0000-7000-8000-000000000009';
  const log = sampleStatementLog(ORIGIN);
  const entries = (from: number, to: number, word = 'entry') =>
    Array.from({ length: to - from }, (_, place) => utf8(`${word} ${from + place}`));

  interface Forked {
    readonly shared: number;
    /** Entries of the log that ended. */
    readonly ended?: number;
    readonly says?: Partial<LogFork>;
    readonly by?: typeof statementLog;
    /** The entries that it shows as the shared ones. */
    readonly shows?: readonly Uint8Array[];
    readonly withoutStatement?: boolean;
    /** Entries after the statement. */
    readonly later?: readonly Uint8Array[];
  }

  const signedRoot = (of: readonly Uint8Array[]) =>
    signRoot(log.rootOf(of), BigInt(of.length), statementLog, { issuer: ISSUER, subject: ORIGIN });

  async function statementOf({ shared, ended = 10, says, by = statementLog, shows }: Forked): Promise<Uint8Array> {
    const seal = encodeCbor([BigInt(ended), await signedRoot(entries(0, ended))]);
    return signForkStatement(
      {
        log: `${ORIGIN}.1`,
        continues: ORIGIN,
        sealNumber: 5n,
        leaves: BigInt(shared),
        root: log.rootOf(shows ?? entries(0, shared)),
        last: { log: ORIGIN, number: 9n, leaves: BigInt(ended), seal },
        reason: 'the disk was lost',
        forkedAtMs: 1737045860000,
        ...says,
      },
      by,
      ISSUER,
    );
  }

  async function forked(plan: Forked): Promise<Answer> {
    const { shared, shows = entries(0, shared), withoutStatement = false, later = entries(shared, 12, 'later') } = plan;
    const statement = await statementOf(plan);
    const all = [...shows, ...(withoutStatement ? [] : [statement]), ...later];
    return withForks(log.published(all, { generation: 1 }), statement);
  }

  const look = (forkKeys: readonly PublicJwk[] | undefined) =>
    followStatementLog(
      {
        url: `${rig.url}/${ORIGIN}`,
        origin: ORIGIN,
        keys: [log.key],
        forkKeys,
        publishesEntries: true,
        registered: async () => {},
        readAll: () => {},
        now: Date.now,
      },
      rig.kept,
    );
  /** What a monitor that saw so many entries says of the forked log. */
  async function after(seen: number, plan: Forked, forkKeys: readonly PublicJwk[] | undefined): Promise<string> {
    rig.answer = log.published(entries(0, seen));
    await look(forkKeys);
    rig.answer = await forked(plan);
    return look(forkKeys);
  }

  it.each<[number, number, string]>([
    [3, 5, 'it holds all that was seen'],
    [5, 5, 'it holds all that was seen'],
    [10, 8, '2 of the 10 leaves that were seen are lost.'],
    [10, 9, '1 of the 10 leaves that were seen is lost, and 1 of the other 9 could not be compared.'],
    [9, 2, '7 of the 9 leaves that were seen are lost, and 2 of the other 2 could not be compared.'],
  ])('that saw %i entries, of which the first %i are shared, says that %s, and goes on', async (seen, shared, says) => {
    expect(await after(seen, { shared }, KNOWN)).toContain(says);
    expect(await look(KNOWN)).toMatch(/^13 entries/);
  });

  const lastSeal = (seal: Uint8Array) => ({ last: { log: ORIGIN, number: 9n, leaves: 9n, seal } });
  const ofAnotherState = async () => lastSeal(encodeCbor([9n, await signedRoot(entries(0, 9, 'forged'))]));
  it.each<[string, number, () => Forked | Promise<Forked>, string, string]>([
    [
      'ends before the statement',
      9,
      () => ({ shared: 5, withoutStatement: true, later: [] }),
      'consistency_invalid',
      'the checkpoint does not cover the fork statement: a silent fork',
    ],
    [
      'does not have the statement as its first entry',
      5,
      () => ({ shared: 5, withoutStatement: true }),
      'leaf_mismatch',
      'entry 5 is not the fork statement: a silent fork',
    ],
    [
      'has other entries than its statement says',
      9,
      () => ({ shared: 5, says: { root: new Uint8Array(32) } }),
      'consistency_invalid',
      'the signed root of 5 entries: a fork',
    ],
    [
      'names a last seal over another state than was seen',
      9,
      async () => ({ shared: 5, says: await ofAnotherState() }),
      'receipt_signature_invalid',
      'the last seal',
    ],
    [
      'names a last seal without a signature',
      9,
      () => ({ shared: 5, says: lastSeal(encodeCbor([9n, 'signed'])) }),
      'malformed',
      'the last seal holds no signed root',
    ],
    [
      'has a statement by another key',
      9,
      () => ({ shared: 5, by: stranger }),
      'log_key_not_trusted',
      'the fork statement',
    ],
    [
      'changed an entry that it says to have kept',
      10,
      () => ({ shared: 9, shows: [...entries(0, 2), ...entries(2, 9, 'forged')] }),
      'consistency_invalid',
      'the root that was seen of 8 entries: a fork',
    ],
  ])('calls the fork silent if the log %s', async (_, seen, plan, code, says) => {
    await expect(after(seen, await plan(), KNOWN)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(says),
    });
  });

  it('of a later generation reads each entry that it has not read, also those of a generation that it never saw', async () => {
    const first = await statementOf({ shared: 5 });
    const both = [...entries(0, 5), first, ...entries(6, 9, 'between')];
    const seal = encodeCbor([11n, await signedRoot(both)]);
    const last = { log: `${ORIGIN}.1`, number: 8n, leaves: 11n, seal };
    const says = { log: `${ORIGIN}.2`, continues: `${ORIGIN}.1`, last };
    const second = await statementOf({ shared: 9, shows: both, says });
    rig.answer = log.published(entries(0, 9));
    await look(KNOWN);
    rig.answer = withForks(log.published([...both, second], { generation: 2 }), first, second);
    expect(await look(KNOWN)).toMatch(/4 of the 9 leaves that were seen are lost, .*; 10 entries, 5 of them read now$/);
  });

  it('by a verifier key alone relies on the checkpoint over the statement, whose key it does not know', async () => {
    expect(await after(9, { shared: 5, ended: 9, by: stranger }, undefined)).toContain('4 of the 9 leaves');
  });
});
