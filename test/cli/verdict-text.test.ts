import { expect, it } from 'vitest';
import { verdictLines } from '../../src/cli/verdict-text.js';
import type { Claim, Facts } from '../../src/core/verify/claim.js';

const event = (facts: Facts, by: Claim['by'] = []): Claim => ({
  kind: 'event',
  piece: 'events/1',
  facts: { identity: 'events/1', ...facts },
  by,
});

const lines = (claim: Claim) =>
  verdictLines(
    { outcome: 'verified', claims: [claim], contradictions: [], notCovered: [], missing: [], remarks: [] },
    [],
  );

it('prints no line for a fact that is an empty text', () => {
  expect(lines(event({ event_type: 'note' }))).toContain('    event type      note');
  expect(lines(event({ event_type: '' })).filter((line) => line.includes('event type'))).toEqual([]);
  expect(lines(event({ event_type: '' }))).toContain('    event           events/1');
});

it('names three of those who recorded the facts, and counts the others', () => {
  const said = (tenancies: number) => {
    const claims = Array.from({ length: tenancies }, (_, at) => event({ tenancy: `t${at}` }));
    return verdictLines(
      { outcome: 'verified', claims, contradictions: [], notCovered: [], missing: [], remarks: [] },
      [],
    )[0];
  };
  const three = 'This is what tenancy t0 and tenancy t1 and tenancy t2';
  expect(said(3)).toContain(`${three} recorded.`);
  expect(said(4)).toContain(`${three} and one other recorded.`);
  expect(said(5)).toContain(`${three} and 2 others recorded.`);
});

it('names who recorded an event as the page does, by what is known of him', () => {
  const principal = { issuer: 'https://idp.example', subject: 'conserver', display_name: 'Conserver', email: '' };
  expect(lines(event({ principal }))).toContain('    recorded by     Conserver · conserver');
  expect(lines(event({ principal: { issuer: 'x' } }))).toContain('    recorded by     {"issuer":"x"}');
});

it('says after what is proven that the position in the log is not', () => {
  const log = { issuer: 'https://archive.example', subject: 'log' };
  const key = { thumbprint: 'ab'.repeat(32) };
  const inclusion = { type: 'inclusion', vds: 3, signed: 'seal', leaf: 'cd', log, key } as const;
  expect(lines(event({}, [inclusion]))).toContain(
    '    proven by       log "log" of https://archive.example, key abababababababab…; its position is not proven',
  );
  expect(lines(event({}, [{ ...inclusion, leaf_index: '4', tree_size: '7' }]))).toContain(
    '    proven by       log "log" of https://archive.example, index 4 under a seal over 7 nodes, key abababababababab…',
  );
});
