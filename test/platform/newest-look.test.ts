import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newestLook } from '../../src/platform/newest-look.js';

it('keeps what the look that began last saw, in whatever order looks end and whichever of them fail', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }).chain((sees) =>
        fc.record({
          sees: fc.constant(sees),
          order: fc.shuffledSubarray([...sees.keys()], { minLength: sees.length, maxLength: sees.length }),
        }),
      ),
      async ({ sees, order }) => {
        const end: (() => void)[] = [];
        let looks = 0;
        let kept: number | undefined;
        const look = newestLook(
          () => {
            const own = looks;
            looks += 1;
            return new Promise<number>((resolve, reject) => {
              end[own] = () => (sees[own] ? resolve(own) : reject(new Error('the store does not answer')));
            });
          },
          (seen) => {
            kept = seen;
          },
        );
        const running = sees.map(() => look().catch(() => undefined));
        let newest: number | undefined;
        for (const place of order) {
          end[place]!();
          await running[place];
          if (sees[place]) newest = Math.max(newest ?? -1, place);
          expect(kept).toBe(newest);
        }
      },
    ),
  ));
