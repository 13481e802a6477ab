import { expect, it } from 'vitest';
import { verdictText } from '../../src/cli/verdict-text.js';
import type { Claim } from '../../src/core/verify/claim.js';

const event = (event_type: string): Claim => ({
  kind: 'event',
  piece: 'events/1',
  facts: { identity: 'events/1', event_type },
  by: [],
});

it('prints no line for a fact that is an empty text', () => {
  const lines = (claim: Claim) =>
    verdictText({ outcome: 'verified', claims: [claim], contradictions: [], notCovered: [], missing: [] }, []).split(
      '\n',
    );
  expect(lines(event('note'))).toContain('    event type      note');
  expect(lines(event('')).filter((line) => line.includes('event type'))).toEqual([]);
  expect(lines(event(''))).toContain('    event           events/1');
});
