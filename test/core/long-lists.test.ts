import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { evidenceFile } from '../../src/core/evidence/evidence-file.js';
import type { GivenTrust } from '../../src/core/evidence/given-trust.js';
import { verifyEvidence } from '../../src/core/evidence/verify-evidence.js';
import { readEventDocument } from '../../src/core/statement/event-document.js';
import { uncoveredMembers } from '../../src/core/verify/event-facts.js';
import { createVerdict, notCovered } from '../../src/core/verify/verdict.js';

/** More than a call takes as arguments. */
const MANY = 150_000;
const many = <Part>(part: (at: number) => Part): Part[] => Array.from({ length: MANY }, (_, at) => part(at));

const event = (at: number) => ({
  identity: `events/${at}`,
  attributes: {},
  trails: [String(at)],
  origin_tenant: 'tenant/112758ce-a8cb-4924-8df8-fcba1e31f8b0',
  created_by: 'x',
  created_at: '1',
  merklelog_commit: { index: '0', idtimestamp: '019148fcc832066400' },
});
const trust: GivenTrust = {
  logKeys: async () => [],
  issuers: async () => ({ issuerKeys: [] }),
  hasIssuers: false,
  issuer: undefined,
  statementLog: {},
  tenancyLog: {},
  witnesses: [],
  quorum: 0,
  witnessedLog: undefined,
  statementOnly: false,
};

describe('evidence that has more parts than a call has arguments', () => {
  it('is judged event by event', async () => {
    const list = await evidenceFile('events.json', utf8(JSON.stringify({ events: many(event) })));
    const { verdict } = await verifyEvidence([list], trust);
    expect([verdict.outcome, verdict.notCovered.length, verdict.missing.length]).toEqual(['incomplete', MANY, MANY]);
  }, 180_000);

  it('makes one verdict of all findings, of many or of one with many parts', () => {
    const findings = many((at) => notCovered(`piece ${at}`, 'unproven', ''));
    const verdict = createVerdict(findings);
    expect(verdict.notCovered).toHaveLength(MANY);
    expect(createVerdict(verdict)).toEqual(verdict);
  });

  it('has every member named that no log covers', () => {
    const commit = { ...event(0).merklelog_commit, ...Object.fromEntries(many((at) => [`m${at}`, 0])) };
    const json = { ...event(0), merklelog_commit: commit };
    const [open] = uncoveredMembers(readEventDocument(json), json).notCovered!;
    expect(open!.members.filter((name) => /^merklelog_commit\.m\d+$/.test(name))).toHaveLength(MANY);
  });
});
