import { describe, expect, it } from 'vitest';
import { conditionOf, rangeHolds } from '../../../src/platform/http/conditional-request.js';

const ETAG = '"now"';

describe('a conditional request (RFC 9110 section 13)', () => {
  it.each([
    [{}, 'send'],
    [{ 'if-none-match': '"now"' }, 'unchanged'],
    [{ 'if-none-match': 'W/"now"' }, 'unchanged'],
    [{ 'if-none-match': '"then", "now"' }, 'unchanged'],
    [{ 'if-none-match': '*' }, 'unchanged'],
    [{ 'if-none-match': '"then"' }, 'send'],
    [{ 'if-none-match': 'now' }, 'send'],
    [{ 'if-match': '"now"' }, 'send'],
    [{ 'if-match': '"then","now"' }, 'send'],
    [{ 'if-match': '*' }, 'send'],
    [{ 'if-match': '"then"' }, 'changed'],
    [{ 'if-match': 'W/"now"' }, 'changed'],
    [{ 'if-match': '"now"', 'if-none-match': '"now"' }, 'unchanged'],
  ] as const)('with %j is to %s', (headers, verdict) => expect(conditionOf(headers, ETAG)).toBe(verdict));

  it.each([
    ['Sat, 21 Nov 2026 10:00:00 GMT', 'send'],
    ['Sat, 21 Nov 2026 09:59:59 GMT', 'changed'],
    ['Sat, 21 Nov 2026 10:00:01 GMT', 'send'],
    ['yesterday', 'send'],
  ] as const)('of content that is unmodified since %s is to %s', (since, verdict) => {
    const modifiedAtMs = Date.parse('2026-11-21T10:00:00.900Z');
    const headers = { 'if-unmodified-since': since };
    expect(conditionOf(headers, ETAG, modifiedAtMs)).toBe(verdict);
    expect(conditionOf({ ...headers, 'if-match': ETAG }, ETAG, modifiedAtMs)).toBe('send');
    expect(conditionOf(headers, ETAG)).toBe('send');
  });

  it('has a weak tag that nothing matches strongly', () => {
    expect(conditionOf({ 'if-match': 'W/"now"' }, 'W/"now"')).toBe('changed');
    expect(conditionOf({ 'if-none-match': '"now"' }, 'W/"now"')).toBe('unchanged');
    expect(rangeHolds({ 'if-range': 'W/"now"' }, 'W/"now"')).toBe(false);
  });

  it('cuts a range from what If-Range names alone', () => {
    expect(rangeHolds({}, ETAG)).toBe(true);
    expect(rangeHolds({ 'if-range': '"now"' }, ETAG)).toBe(true);
    expect(rangeHolds({ 'if-range': '"then"' }, ETAG)).toBe(false);
    expect(rangeHolds({ 'if-range': 'Sat, 21 Nov 2026 00:00:00 GMT' }, ETAG)).toBe(false);
  });
});
