import { describe, expect, it } from 'vitest';
import { OperationError, readOperation } from '../../plugins/operation/operation.js';
import { recordedLabel } from '../../plugins/operation/recorded-labels.js';

const recorded = (label: string) => recordedLabel(label, 'a-secret');
const hashed = /^hmac-sha256:[0-9a-f]{64}$/;

describe('a label with a telephone number or an address', () => {
  it('is hashed whatever stands between the digits, up to three characters', () => {
    const between = ['~', '·', ',', '|', ':', '=', '*', "'", '][', ' – ', '…', '\u00a0/\u00a0', '\u20e3 '];
    for (const text of between) {
      for (const label of [`212${text}555${text}0123`, `call +1${text}212${text}555${text}0123 back`])
        expect([label, recorded(label)]).toEqual([label, expect.stringMatching(hashed)]);
    }
    expect(recorded('555:012:3456')).toMatch(hashed);
    expect(recorded('10 x ==== 20 y 30405')).not.toMatch(hashed);
  });

  it('is hashed with characters in it that nobody sees', () => {
    for (const unseen of ['\u00ad', '\u200b', '\u2060', '\ufeff', '\u200e', '\u034f', '\ufe0f'])
      for (const label of [`212 555${unseen}0123`, `link_2024_555${unseen}0123`, `al${unseen}ice s${unseen}ip:1000`])
        expect([label, recorded(label)]).toEqual([label, expect.stringMatching(hashed)]);
  });

  it('is hashed if it has a URI of a telephone, SIP or e-mail anywhere', () => {
    for (const label of [
      'customer·sip:alice',
      'to sip:1000',
      'link_SIPS:x',
      'for-mailto:bob',
      '1tel:110',
      '<sip：bob>',
    ])
      expect([label, recorded(label)]).toEqual([label, expect.stringMatching(hashed)]);
    for (const label of ['gossip:x', 'hotel:5', 'zoë-motel: a'])
      expect(recorded(label)).toBe(encodeURIComponent(label));
  });

  it('is hashed however often it is percent-encoded, and in whatever characters', () => {
    const encoded = (text: string, times: number): string =>
      times === 0 ? text : encoded(encodeURIComponent(text), times - 1);
    for (const times of [1, 2, 3, 5, 20])
      for (const text of ['alice@example.com', '+1 212 555 0123', '212·555·0123', 'to sip:alice'])
        expect(recorded(encoded(text, times))).toMatch(hashed);
    expect(recorded('alice％40example.com')).toMatch(hashed);
    expect(recorded('%FF%FE 100%')).toBe('%25FF%25FE%20100%25');
  });

  it('is hashed where two numbers together have more digits than one', () => {
    expect(recorded('212 555 0123 / 212 555 0124')).toMatch(hashed);
    expect(recorded('212 555 0123 or 12345678901234567890')).toMatch(hashed);
    expect(recorded('run 12345678901234567890')).toBe('run%2012345678901234567890');
  });

  it('is hashed if what looks like a version or a number of a year has the digits of a telephone number', () => {
    for (const label of ['v49.170.123.456', 'v212.555.012', 'v1.22.33.44', 'call 2024_555~0123', '2024_555-0123'])
      expect([label, recorded(label)]).toEqual([label, expect.stringMatching(hashed)]);
    for (const name of ['v49_170_123_456', 'vcon_2024_555-0123'])
      expect(() => readOperation(`/operations/${name}`)).toThrow(OperationError);
  });
});
