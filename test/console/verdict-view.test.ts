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

/** What one of the view's components puts on the page. */
function shownBy(component: string, verdict: object): string {
  const find = (node: unknown): string | undefined => {
    if (Array.isArray(node)) return node.map(find).find((found) => found !== undefined);
    if (typeof node !== 'object' || node === null) return undefined;
    const { type, props } = node as { readonly type?: unknown; readonly props?: { readonly children?: unknown } };
    if (typeof type === 'function' && type.name === component) return JSON.stringify(type(props));
    return find(props?.children);
  };
  return find(VerdictView({ verdict, isVouched: true })) ?? '';
}

it('says of a file that an event names that it is attached to it, and of another that it is what the record is about', () => {
  const documents = (member: 'members' | 'payload_hash') => {
    const by = [{ type: 'digest', of: 'event.json', member }] as const;
    return shownBy('Documents', createVerdict({ claims: [{ kind: 'document', piece: 'photo.jpg', facts: {}, by }] }));
  };
  const attached = '"text":"photo.jpg is attached to an event of this evidence."';
  expect(documents('members')).toContain(attached);
  expect(documents('payload_hash')).toContain('"text":"photo.jpg is');
  expect(documents('payload_hash')).not.toContain(attached);
});
