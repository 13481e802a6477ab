import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import type { CborValue } from '../../../src/core/cose/cbor.js';
import { createSign1, decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { attachInclusion, readMmrReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import { attachRfc9162Inclusion, signRoot } from '../../../src/core/receipt/rfc9162-receipt.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { statementEntry } from '../../../src/core/statement/statement-entry.js';
import { verifyEvent } from '../../../src/core/verify/verify-event-in-log.js';
import { verifyReceipt } from '../../../src/core/verify/verify-receipt.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import {
  SAMPLE_STATEMENT_LOG,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
} from './sample-transparent-statement.js';

const { sealer, statementLog } = sampleSigners;
const trust = { logKeys: [sealer.publicKey, statementLog.publicKey] };
const one = sampleSealedLog({ leaves: 1 });
const two = sampleSealedLog({ leaves: 2 });
const atNode = (index: string) => {
  const [event] = one.events;
  return { ...event!, merklelog_entry: { commit: { ...event!.merklelog_entry.commit, index } } };
};

describe('the place of an event', () => {
  it('is proven by a path with a hash in it', async () => {
    const { claims, notCovered } = await verifyReceipt(await two.receipt(1), { event: two.events[1]! }, trust);
    expect([claims[0]!.by[0], notCovered]).toMatchObject([{ mmr_index: '1', leaf_index: '1' }, []]);
  });

  it('is not proven by a path without one, and is named as not covered, whichever index the evidence says', async () => {
    const receipt = await one.receipt(0);
    for (const index of ['0', '1', '3', '7']) {
      const elsewhere = attachInclusion(decodeSign1(receipt), BigInt(index), [], 'draft');
      const { outcome, claims, notCovered } = await verifyReceipt(elsewhere, { event: atNode(index) }, trust);
      expect([outcome, notCovered]).toMatchObject(['verified', [{ why: 'by_design', members: ['index'] }]]);
      for (const place of ['mmr_index', 'leaf_index', 'tree_size']) expect(claims[0]!.by[0]).not.toHaveProperty(place);
    }
  });

  it('is proven by a seal over the log, also where the leaf is a peak itself', async () => {
    const sealed = { massif: one.massif(0), seal: await one.seal() };
    const { claims } = await verifyEvent(one.events[0]!, sealed, trust);
    expect(claims[0]!.by[0]).toMatchObject({ signed: 'seal', mmr_index: '0', leaf_index: '0', tree_size: '1' });
  });

  it('is refused where a proof in the map form has members that nobody reads', async () => {
    const { sign1 } = readMmrReceipt(await two.receipt(1));
    const proof = new Map<number, CborValue>([
      [1, 1n],
      [2, [two.leaves[0]!]],
    ]);
    const withProof = (of: Map<number, CborValue>) =>
      encodeSign1({ ...sign1, unprotectedHeader: new Map([[396, new Map([[-1, [of]]])]]) });
    await verifyReceipt(withProof(proof), { event: two.events[1]! }, trust);
    await expect(
      verifyReceipt(withProof(new Map([...proof, [3, 9n]])), { event: two.events[1]! }, trust),
    ).rejects.toMatchObject({ code: 'malformed' });
  });
});

describe('the place of a statement', async () => {
  const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
  const leaf = rfc9162Leaf(statementEntry(statement));
  const other = rfc9162Leaf(utf8('another entry'));
  const root = rfc9162Parent(1n, other, leaf);
  /** As logs sign that leave the size out, which RFC 9942 allows. */
  async function withoutSize(over: Uint8Array): Promise<Uint8Array> {
    const header = new Map(decodeSign1(await signRoot(over, 1n, statementLog, SAMPLE_STATEMENT_LOG)).protectedHeader);
    header.delete(-65932);
    return encodeSign1({ ...(await createSign1(header, over, statementLog)), payload: null });
  }

  it('is proven when the log signed the size, also of a tree of one', async () => {
    const signed = await signRoot(leaf, 1n, statementLog, SAMPLE_STATEMENT_LOG);
    const { claims, notCovered } = await verifyReceipt(
      attachRfc9162Inclusion(signed, 1n, 0n, []),
      { statement },
      trust,
    );
    expect([claims[0]!.by[0], notCovered]).toMatchObject([{ leaf_index: '0', tree_size: '1' }, []]);
  });

  it('is not proven when it did not, and is named as not covered, unless the caller knows the size', async () => {
    const signed = await withoutSize(root);
    // One path is good for the second entry of two and for the third of three.
    for (const [size, index] of [
      [2n, 1n],
      [3n, 2n],
    ] as const) {
      const receipt = attachRfc9162Inclusion(signed, size, index, [other]);
      const { claims, notCovered } = await verifyReceipt(receipt, { statement }, trust);
      expect(notCovered).toMatchObject([{ why: 'by_design', members: ['leaf_index', 'tree_size'] }]);
      expect(claims[0]!.by[0]).not.toHaveProperty('leaf_index');
    }
    const known = await verifyReceipt(
      attachRfc9162Inclusion(signed, 2n, 1n, [other]),
      { statement },
      { ...trust, treeSize: 2n },
    );
    expect(known.claims[0]!.by[0]).toMatchObject({ leaf_index: '1', tree_size: '2' });
  });
});

describe('a receipt', () => {
  it('alone says nothing of who signed the statement: its members are no facts', async () => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    const signed = await signRoot(rfc9162Leaf(statementEntry(statement)), 1n, statementLog, SAMPLE_STATEMENT_LOG);
    const { claims } = await verifyReceipt(attachRfc9162Inclusion(signed, 1n, 0n, []), { statement }, trust);
    expect(claims).toMatchObject([{ kind: 'entry', facts: {} }]);
    expect(Object.keys(claims[0]!.facts)).toEqual([]);
  });
});
