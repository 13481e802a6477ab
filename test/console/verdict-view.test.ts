import { expect, it } from 'vitest';
import { createVerdict } from '../../src/core/verify/verdict.js';

/** By a name that the compiler does not follow: tests are compiled without the elements of pages. */
const VIEW: string = '../../src/console/verdict-view.tsx';
const { VerdictView } = (await import(VIEW)) as { VerdictView(props: object): unknown };

/** What the view itself puts on the page; its own components are named and not run. */
const shown = (facts: object) => {
  const claims = [{ kind: 'event', piece: 'event.json', facts, by: [] }] as const;
  return JSON.stringify(VerdictView({ verdict: createVerdict({ claims }), isVouched: true }));
};

it('shows that times contradict each other without a click, and says nothing of times that do not', () => {
  const committed = '2026-01-01T10:00:00.000Z';
  const doubtful = shown({ committed, accepted: '2026-01-01T11:00:00Z' });
  expect(doubtful).toContain('"title":"Times of the log contradict each other."');
  expect(doubtful).toMatch(/"items":\[\{"what":"accepted_after_committed"/);
  expect(shown({ committed, accepted: '2026-01-01T09:00:00Z' })).not.toContain('contradict each other');
});
