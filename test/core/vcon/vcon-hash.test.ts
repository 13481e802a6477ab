import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../../src/core/bytes.js';
import { sha256 } from '../../../src/core/sha256.js';
import { asRead, asStored, storable } from '../../../src/core/vcon/conserver-forms.js';
import { canonicalJson } from '../../../src/core/vcon/jcs.js';
import { readJson } from '../../../src/core/vcon/json-document.js';
import { pythonJson } from '../../../src/core/vcon/python-json.js';
import { jcsHash, type VconHashes, vconHashes } from '../../../src/core/vcon/vcon-hash.js';
import { fixture, sharedVectors } from '../event/known-answers.js';

interface HashCase {
  readonly name: string;
  readonly input_text: string;
  readonly dumps?: string;
  readonly dumps_read?: string;
  readonly dumps_stored?: string;
  readonly sha256_plain: string;
  readonly sha256_read?: string | null;
  readonly sha256_stored?: string | null;
  readonly jcs_sha256: string | null;
  readonly jcs_lossy_integers?: boolean | null;
}

const CASES = fixture('vcon/hashes.json') as HashCase[];
const published = sharedVectors('vcon-hash.json') as { vectors: HashCase[] } | undefined;
const digest = (text: string) => toHex(sha256(utf8(text)));

/** Documents of which the conserver drops or overwrites a part, by the form that proves nothing for that reason. */
const LOSES: Readonly<Record<'upstream' | 'stored', RegExp>> = {
  upstream: /^(11|16|18)-/,
  stored: /^(11|13|16|17|18|19|22|30)-/,
};

const formOf = (hashes: VconHashes, name: string) => hashes.conserver.find(({ form }) => form === name)!;
const readOf = (text: string) => asRead(storable(readJson(utf8(text))));
const MAKE = { upstream: readOf, stored: (text: string) => asStored(readOf(text)) };

function holds(known: HashCase): void {
  const bytes = utf8(known.input_text);
  const document = readJson(bytes);
  const hashes = vconHashes(bytes);
  expect(digest(pythonJson(document.value))).toBe(known.sha256_plain);
  expect(hashes.raw.hash).toBe(digest(known.input_text));
  for (const form of ['upstream', 'stored'] as const) {
    const answer = form === 'upstream' ? known.sha256_read : known.sha256_stored;
    if (answer) expect(digest(pythonJson(MAKE[form](known.input_text)))).toBe(answer);
    expect(formOf(hashes, form).hash).toBe(LOSES[form].test(known.name) ? undefined : (answer ?? undefined));
  }
  if (known.jcs_sha256 === null) expect(hashes.jcs.hash).toBeUndefined();
  else {
    // A name that occurs twice is merged in the known answer, and refused by us.
    expect(digest(canonicalJson(document.value).text)).toBe(known.jcs_sha256);
    expect(jcsHash(document).hash).toBe(document.duplicateName !== undefined ? undefined : known.jcs_sha256);
    expect(canonicalJson(document.value).lossy).toBe(known.jcs_lossy_integers);
    expect(hashes.jcs.hash).toBe(
      document.duplicateName !== undefined || known.jcs_lossy_integers ? undefined : known.jcs_sha256,
    );
  }
}

describe('hashes of a vCon', () => {
  it.each(CASES)('are the known ones in every form: $name', holds);

  it('say why a form does not exist', () => {
    const reasons = (text: string) => {
      const hashes = vconHashes(utf8(text));
      return [formOf(hashes, 'upstream'), formOf(hashes, 'stored'), hashes.jcs].map(({ reason }) => reason);
    };
    expect(reasons('{"uuid":"x","a":"\\ud800"}')).toEqual(Array(3).fill('a text has a lone surrogate'));
    expect(reasons('{"uuid":"x","a":1e999}')[2]).toBe('a number is too large for a double');
    expect(reasons('{"a":1}')).toEqual([undefined, 'it has no uuid', undefined]);
    expect(reasons('[]')).toEqual(['it is not an object', 'it is not an object', undefined]);
    expect(reasons('nothing')[0]).toMatch(/^not JSON at character/);
    expect(formOf(vconHashes(Uint8Array.of(0x22, 0xff, 0x22)), 'upstream').reason).toBe('not UTF-8');
  });

  it('agree for a file that was written as the conserver writes it, and only JCS for a pretty-printed one', () => {
    const read = (name: string) =>
      new Uint8Array(readFileSync(new URL(`../../../fixtures/vcon/${name}`, import.meta.url)));
    const call = vconHashes(read('call.vcon.json'));
    expect(formOf(call, 'upstream').hash).toBe(call.raw.hash);
    const pretty = new TextEncoder().encode(
      JSON.stringify(JSON.parse(new TextDecoder().decode(read('call.vcon.json'))), null, 4),
    );
    expect(vconHashes(pretty).raw.hash).not.toBe(call.raw.hash);
    expect(vconHashes(pretty)).toMatchObject({ conserver: call.conserver, jcs: call.jcs });
  });

  it('are stable: what was stored is read back and stored again as it is', () => {
    for (const { input_text, sha256_stored } of CASES) {
      if (!sha256_stored) continue;
      const stored = pythonJson(MAKE.stored(input_text));
      expect(pythonJson(readOf(stored))).toBe(stored);
      expect(pythonJson(MAKE.stored(stored))).toBe(stored);
    }
  });
});

describe.skipIf(!published)('the published hashes', () => {
  it.each(published?.vectors ?? [])('$name', (known) => {
    holds(known);
    const document = readJson(utf8(known.input_text));
    expect(pythonJson(document.value)).toBe(known.dumps);
    if (known.dumps_read !== undefined) expect(pythonJson(MAKE.upstream(known.input_text))).toBe(known.dumps_read);
    if (known.dumps_stored !== undefined) expect(pythonJson(MAKE.stored(known.input_text))).toBe(known.dumps_stored);
  });
});
