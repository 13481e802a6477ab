import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperationError, readOperation } from '../../plugins/operation/operation.js';
import { readStreamEntry } from '../../plugins/stream/stream-record.js';
import { pythonPath } from '../support/prerequisites.js';
import { driveWheel, type Step } from './python-wheel.js';

const UUID = randomUUID();
const put = (members: object = {}): Step => ({ set: UUID, document: JSON.stringify({ uuid: UUID, ...members }) });
const recorded = (fields: Record<string, string>) => readStreamEntry('1763712000250-3', Object.entries(fields).flat());

/** Texts like names of operations, most of them with many digits. */
const named = fc
  .array(
    fc.oneof(
      fc.constantFrom('_', '-', '__', 'v', 'x', 'T', 'vcon_', '20', '19', '2024', '2016', '679', '1125', '103000'),
      fc.constantFrom('-0530', '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01', '1234567890123456'),
      fc.stringMatching(/^[0-9]{1,4}$/),
    ),
    { minLength: 1, maxLength: 9 },
  )
  .map((parts) => parts.join(''));

function pluginTakes(name: string): boolean {
  try {
    readOperation(`/operations/${name}`);
    return true;
  } catch (error) {
    if (error instanceof OperationError) return false;
    throw error;
  }
}

describe.skipIf(!pythonPath)('the options of the link', () => {
  it('name an operation exactly if the plugin takes the name', () => {
    const texts = [
      ...['vcon sent', 'übermittelt', 'vcon_tel_2125550123', 'sent_to_+15551234567', 'x'.repeat(64), 'x'.repeat(65)],
      ...['vcon_sent', 'vcon_sent\n', 'vcon.sent', 'vcon_gdpr_2016_679', 'vcon_٢٠٢٦', 'v49_170_123_456', 'ｘ'],
      ...['a/b', 'a?b', '٢١٢٥٥٥٠١٢٣'],
      ...fc.sample(named, 3_000),
    ];
    const names = [...new Set(texts)].map((text) => [text, pluginTakes(text)] as const);
    const steps = names.map(([vcon_operation]): Step => ({ link: 'l', uuid: UUID, options: { vcon_operation } }));
    const { results } = driveWheel([put(), ...steps]);
    expect(names.map(([name], place) => [name, results[place + 1]!.raised === undefined])).toEqual(names);
  });

  it('stop it, whether or not it fails open, at a name, a tenancy or a nonce only if the plugin would refuse it', () => {
    const operation = '1 to 64 letters, digits, "_" or "-" that do not look like a telephone number';
    const tenancy = '1 to 64 letters, digits, "_", "-" or "."';
    const wrong: readonly [object, string][] = [
      [{ vcon_operation: 'vcon sent' }, `option vcon_operation is 'vcon sent', but must be ${operation}`],
      [{ vcon_operation: 2125550123 }, `option vcon_operation is 2125550123, but must be ${operation}`],
      [{ tenancy: 'north west' }, `option tenancy is 'north west', but must be ${tenancy}`],
      [{ tenancy: 'x'.repeat(65) }, `option tenancy is '${'x'.repeat(65)}', but must be ${tenancy}`],
      [{ nonce: '😀'.repeat(2_001) }, 'but must be a text of 4,000 characters or fewer'],
    ];
    const { results, entries } = driveWheel([
      put(),
      ...wrong.map(([own]): Step => ({ link: 'l', uuid: UUID, options: { ...own, fail_open: true } })),
    ]);
    expect(results.slice(1).map(({ raised, message }) => [raised, message])).toEqual(
      wrong.map(([, message]) => ['OptionError', expect.stringContaining(message)]),
    );
    expect(entries).toEqual([]);
    const options = { vcon_operation: 'x'.repeat(64), tenancy: 'a.'.repeat(32), nonce: '😀'.repeat(2_000) };
    const traced = { tracer: [UUID, UUID] as [string, string], links: ['a'], options };
    const longest = driveWheel([
      put(),
      { link: 'l', uuid: UUID, options },
      { ...traced, index: -1 },
      put({ n: 1 }),
      { ...traced, index: 0 },
    ]);
    expect(longest.log).toEqual([]);
    expect(longest.entries.map(({ fields }) => recorded(fields).operation)).toMatchObject([
      { tenancy: options.tenancy, nonce: options.nonce },
      { tenancy: options.tenancy, nonce: `${options.nonce}.1763712000250-3` },
    ]);
  });
});

describe.skipIf(!pythonPath)('the options of the tracer', () => {
  const links = ['tag', 'redact', 'enrich', 'mask', 'score'];
  /** What is recorded, and said, when every link changes the vCon. */
  const run = (options: object) => {
    const traced = (index: number): Step => ({ tracer: [UUID, UUID], links, index, options });
    const { entries, log } = driveWheel([
      put(),
      traced(-1),
      ...links.flatMap((_link, index) => [put({ n: index }), traced(index)]),
    ]);
    return { operations: entries.map(({ fields: { link, operation } }) => [link, operation]), entries, log };
  };

  it('name operations that can be recorded; the log says which do not, and these links have the usual one', () => {
    const operations = {
      tag: true,
      redact: ['vcon_party_redacted'],
      enrich: 'vcon enriched',
      mask: null,
      score: 'vcon_scored',
    };
    const { operations: found, log } = run({ operations, vcon_operation: 'vcon_enhanced' });
    expect(found).toEqual([
      ['tag', 'vcon_enhanced'],
      ['redact', 'vcon_enhanced'],
      ['enrich', 'vcon_enhanced'],
      ['score', 'vcon_scored'],
    ]);
    const accepted = 'null or 1 to 64 letters, digits, "_" or "-" that do not look like a telephone number';
    expect(log).toEqual([
      `ERROR: tracer evidence: option operations.tag is True, but must be ${accepted}`,
      `ERROR: tracer evidence: option operations.redact is ['vcon_party_redacted'], but must be ${accepted}`,
      `ERROR: tracer evidence: option operations.enrich is 'vcon enriched', but must be ${accepted}`,
    ]);
  });

  it('that are wrong are left out, but not the tenancy: the plugin sets the change aside', () => {
    const options = { vcon_operation: 'übermittelt', tenancy: 'north west', nonce: 'x'.repeat(5_000), chain: ['a'] };
    const { operations, entries, log } = run(options);
    expect(operations).toEqual(links.map((link) => [link, 'vcon_enhanced']));
    expect(log).toHaveLength(4);
    for (const { fields } of entries) {
      expect(fields).not.toHaveProperty('nonce');
      expect(fields).not.toHaveProperty('chain');
      expect(() => recorded(fields)).toThrow('tenancy must be');
    }
  });
});
