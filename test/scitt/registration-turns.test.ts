import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRegistrationTurns, type RegistrationTurn } from '../../src/scitt/registration-turns.js';

/** Turns whose time the test moves on, and which of them go on. */
function turnsOnAClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const turns = createRegistrationTurns();
  const gone: string[] = [];
  const come = (turn: RegistrationTurn, name: string): void => {
    const held = turn.come();
    if (held) void held.then(() => gone.push(name));
    else gone.push(name);
  };
  /** Judged at once. */
  const comes = (name: string): RegistrationTurn => {
    const turn = turns.begin();
    come(turn, name);
    return turn;
  };
  return { turns, gone, come, comes };
}

const after = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe('registrations that wait for their receipts', () => {
  it('go on at once, one after the other', async () => {
    const { gone, comes } = turnsOnAClock();
    for (const name of ['a', 'b', 'c']) comes(name).end();
    expect(gone).toEqual(['a', 'b', 'c']);
    await after(100);
    comes('d').end();
    expect(gone).toEqual(['a', 'b', 'c', 'd']);
  });

  it('that are judged together go on together; others gather until all of these have their receipts', async () => {
    const { turns, gone, come, comes } = turnsOnAClock();
    const [a, b] = [turns.begin(), turns.begin()];
    come(a, 'a');
    come(b, 'b');
    const c = comes('c');
    expect(gone).toEqual(['a', 'b']);
    a.end();
    await after(5);
    expect(gone).toEqual(['a', 'b']);
    b.end();
    await after(1);
    // Of a caller that has just had its receipt.
    const again = comes('again');
    expect(gone).toEqual(['a', 'b']);
    await after(1);
    expect(gone).toEqual(['a', 'b', 'c', 'again']);
    c.end();
    again.end();
    comes('last');
    expect(gone.at(-1)).toBe('last');
  });

  it('are not held when sixteen have gathered, nor longer than 25 ms', async () => {
    const { gone, comes } = turnsOnAClock();
    const slow = comes('slow');
    for (let count = 0; count < 15; count += 1) comes('gathered');
    await after(0);
    expect(gone).toEqual(['slow']);
    comes('gathered');
    await after(0);
    expect(gone).toHaveLength(17);
    comes('held');
    await after(24);
    expect(gone).toHaveLength(17);
    await after(1);
    expect(gone).toHaveLength(18);
    slow.end();
  });

  it('are not held by one that was refused, or that had not been judged when it ended', async () => {
    const { turns, gone, come, comes } = turnsOnAClock();
    const refused = turns.begin();
    const first = comes('first');
    refused.end();
    comes('held');
    expect(gone).toEqual(['first']);
    first.end();
    await after(2);
    expect(gone).toEqual(['first', 'held']);
    const late = turns.begin();
    come(late, 'late');
    expect(gone).toEqual(['first', 'held']);
  });
});
