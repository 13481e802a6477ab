import { describe, expect, it } from 'vitest';
import { type Consent, consentsOf } from '../../plugins/operation/consent.js';
import { consentChanges } from '../../plugins/operation/consent-changes.js';
import { isJsonObject, readJson } from '../../src/core/vcon/json-document.js';

/** The consents of a vCon with so many parties. */
const consentsOfParties = (parties: number, attachments: readonly object[]) => {
  const vcon = { attachments, parties: Array.from({ length: parties }, () => ({})) };
  const { value } = readJson(Buffer.from(JSON.stringify(vcon)));
  if (!isJsonObject(value)) throw new Error('it is an object');
  return consentsOf(value)!;
};
const consents = (...attachments: object[]) => consentsOfParties(2, attachments);
const attachment = (party: number, body: object) => ({
  ...{ type: 'lawful_basis', party },
  body: { lawful_basis: 'consent', ...body },
});
const answer = (party: number, granted: boolean, purpose = 'recording') =>
  attachment(party, { purpose_grants: [{ purpose, granted }] });
const changes = (before: object[], now: object[]) =>
  consentChanges(consents(...before), consents(...now)).map(({ operation }) => operation.replace('vcon_consent_', ''));

describe('a change of consent', () => {
  it.each<[string, object[], object[], string[]]>([
    ['a second party consents in the same words', [answer(0, true)], [answer(0, true), answer(1, true)], ['accepted']],
    [
      'one of two parties with the same words is gone',
      [answer(0, true), answer(1, true)],
      [answer(0, true)],
      ['revoked'],
    ],
    ['the words pass to another party', [answer(0, true)], [answer(1, true)], ['revoked', 'accepted']],
    ['a refusal replaces the grant', [answer(0, true)], [answer(0, false)], ['revoked']],
    ['a refusal is added to the grant', [answer(0, true)], [answer(0, true), answer(0, false)], ['revoked']],
    ['the grant goes after its refusal', [answer(0, true), answer(0, false)], [answer(0, false)], []],
    ['another party refuses what it never granted', [answer(0, true)], [answer(0, true), answer(1, false)], []],
    ['a grant is gone beside such a refusal', [answer(0, true)], [answer(1, false)], ['revoked']],
    ['a refusal is the first that is seen', [], [answer(0, false)], []],
    ['a basis without an answer is seen', [], [attachment(0, { expiration: '2027-01-01T00:00:00Z' })], []],
    [
      'the same is granted in other words',
      [answer(0, true)],
      [attachment(0, { terms: 2, ...answer(0, true).body })],
      ['accepted'],
    ],
  ])('%s', (_change, before, now, expected) => {
    expect(changes(before, now)).toEqual(expected);
  });

  it.each<[string, [number, object[]], [number, object[]], string[]]>([
    ['another is put before them', [2, [answer(1, true)]], [3, [answer(2, true)]], []],
    [
      'another is put before two with the same words',
      [2, [answer(0, true), answer(1, true)]],
      [3, [answer(1, true), answer(2, true)]],
      [],
    ],
    [
      'one before them is removed',
      [3, [answer(1, true), answer(2, true)]],
      [2, [answer(0, true), answer(1, true)]],
      [],
    ],
    ['another that consents too comes', [1, [answer(0, true)]], [2, [answer(0, true), answer(1, true)]], ['accepted']],
    [
      'another is put before two, and one of them withdraws',
      [2, [answer(0, true), answer(1, true)]],
      [3, [answer(2, true)]],
      ['revoked'],
    ],
    [
      'another is put before them, and the party refuses',
      [1, [answer(0, true)]],
      [2, [answer(1, true), answer(1, false)]],
      ['revoked'],
    ],
    [
      'the words move farther than parties came',
      [3, [answer(0, true)]],
      [4, [answer(2, true)]],
      ['revoked', 'accepted'],
    ],
    ['the vCon has no such party', [0, [answer(0, true)]], [1, [answer(1, true)]], ['revoked', 'accepted']],
  ])('is told from a change of the parties’ places: %s', (_change, [many, before], [manyNow, now], expected) => {
    const found = consentChanges(consentsOfParties(many, before), consentsOfParties(manyNow, now));
    expect(found.map(({ operation }) => operation.replace('vcon_consent_', ''))).toEqual(expected);
  });

  it('refers to the attachment that refuses, and else to the one that is gone', () => {
    const [granted, refused, other] = [answer(0, true), answer(0, false), answer(1, false)].map(
      (each) => consents(each)[0]!,
    );
    expect(consentChanges([granted!], [refused!])[0]!.digest).toBe(refused!.digest);
    expect(consentChanges([granted!], [other!])[0]!.digest).toBe(granted!.digest);
  });

  it('is found in moments among tens of thousands of grants and refusals', () => {
    const many = (names: string, answered: (name: string) => Pick<Consent, 'granted' | 'refused'>): Consent[] =>
      Array.from({ length: 20_000 }, (_, at) => ({ digest: `${names}${at}`, ...answered(`${names}${at}`) }));
    const before = many('granted', (name) => ({ granted: [name] }));
    const refused = many('other', (name) => ({ granted: [], refused: [name] }));
    const last: Consent = { digest: 'last', granted: [], refused: ['granted5'] };
    const started = process.cpuUsage().user;
    const found = consentChanges(before, [...before, ...refused, last]);
    expect((process.cpuUsage().user - started) / 1_000).toBeLessThan(1_000);
    expect(found).toEqual([{ operation: 'vcon_consent_revoked', digest: 'last' }]);
  });

  it('is not looked for in a document with more than 1,000 consents, or with a consent to more than 1,000 purposes', () => {
    const many = (count: number) => Array.from({ length: count }, (_, party) => answer(party, true));
    const wide = (count: number, granted: boolean) =>
      attachment(0, { purpose_grants: Array.from({ length: count }, (_, purpose) => ({ purpose, granted })) });
    const counts = [many(1_000), many(1_001), [wide(1_000, true)], [wide(1_001, true)], [wide(1_001, false)]].map(
      (attachments) => consents(...attachments)?.length,
    );
    expect(counts).toEqual([1_000, undefined, 1, undefined, undefined]);
  });
});
