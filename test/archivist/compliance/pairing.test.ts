import { describe, expect, it } from 'vitest';
import { complianceEvent } from '../../../src/archivist/compliance/compliance-check.js';
import { pairEvents } from '../../../src/archivist/compliance/pairing.js';
import { input, NOW, policy } from './compliance-samples.js';

const POLICY = policy('COMPLIANCE_CURRENT_OUTSTANDING');

/** Durations of the closed pairs, and when the outstanding events were accepted, in seconds. */
function paired(...texts: string[]): { closed: number[]; outstanding: number[] } {
  const { closed, outstanding } = pairEvents(POLICY, input(...texts));
  return {
    closed: closed.map((pair) => pair.durationMs / 1000),
    outstanding: outstanding.map((event) => event.acceptedAtMs / 1000 - NOW),
  };
}

describe('pairing', () => {
  it.each<[string, string[], number[], number[]]>([
    ['nothing', [], [], []],
    ['an opening alone waits', ['open:a@-9'], [], [-9]],
    ['a closing alone is ignored', ['close:a@-9'], [], []],
    ['equal values pair', ['open:a@-9', 'close:a@-4'], [5], []],
    ['different values do not', ['open:a@-9', 'close:b@-4'], [], [-9]],
    ['the order given does not matter', ['close:a@-4', 'open:a@-9'], [5], []],
    ['a closing before its opening does not close it', ['close:a@-9', 'open:a@-4'], [], [-4]],
    ['the same millisecond pairs, whichever is first', ['close:a@-4', 'open:a@-4'], [0], []],
    [
      'a reused value makes one pair after the other',
      ['open:a@-9', 'close:a@-8', 'open:a@-5', 'close:a@-2'],
      [1, 3],
      [],
    ],
    ['a reused value that is not closed again waits', ['open:a@-9', 'close:a@-8', 'open:a@-5'], [1], [-5]],
    ['one closing closes the oldest of two', ['open:a@-9', 'open:a@-8', 'close:a@-1'], [8], [-8]],
    ['a second closing is ignored', ['open:a@-9', 'close:a@-8', 'close:a@-1'], [1], []],
    ['interleaved values', ['open:a@-9', 'open:b@-8', 'close:b@-7', 'close:a@-6'], [1, 3], []],
    ['without a value nothing pairs', ['open@-9', 'close@-4'], [], [-9]],
    ['other types take no part', ['other:a@-9', 'open:a@-8', 'other:a@-7'], [], [-8]],
    ['a closing in the future does not count', ['open:a@-9', 'close:a@0.001'], [], [-9]],
    ['an opening in the future does not count', ['open:a@0.001'], [], []],
    ['an event at the moment itself counts', ['open:a@-9', 'close:a@0'], [9], []],
  ])('%s', (_rule, texts, closed, outstanding) => {
    expect(paired(...texts)).toEqual({ closed, outstanding });
  });
});

describe('an event of compliance', () => {
  it('takes type and correlation value from the event attributes, and only texts', () => {
    expect(complianceEvent({ arc_display_type: 'open', arc_correlation_value: 'a' }, 5)).toEqual({
      displayType: 'open',
      correlationValue: 'a',
      acceptedAtMs: 5,
    });
    expect(complianceEvent({ arc_display_type: ['open'], arc_correlation_value: '' }, 5)).toEqual({
      displayType: undefined,
      correlationValue: undefined,
      acceptedAtMs: 5,
    });
  });
});
