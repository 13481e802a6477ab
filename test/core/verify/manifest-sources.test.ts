import { describe, expect, it } from 'vitest';
import { evidenceFile, evidenceFolder } from '../../../src/core/evidence/evidence-file.js';
import { manifestSources } from '../../../src/core/evidence/manifest-sources.js';

const bytes = (...values: number[]) => new Uint8Array(values);

describe('the key manifests of the evidence', () => {
  it('are all that a folder has: an export of several times has one of each', async () => {
    const folder = evidenceFolder('call', {
      'keys/key-manifest.cbor': bytes(1),
      'keys/key-manifest-2.cbor': bytes(2),
      'keys/key-manifest-3.cbor': bytes(3),
      'keys/did.json': bytes(4),
      'index.json': bytes(5),
    });
    expect(await manifestSources([folder])).toEqual([1, 2, 3].map((each) => ({ name: 'call', bytes: bytes(each) })));
  });

  it('are all of them also if a number is missing: taking away a copy hides none of the others', async () => {
    const copies = { 'keys/key-manifest.cbor': bytes(1), 'keys/key-manifest-3.cbor': bytes(3) };
    const log = { 'massifs/0000000000000000.log': bytes(0), 'massifseals/0000000000000000.sth': bytes(0) };
    for (const folder of [
      evidenceFolder('call', { ...copies, 'index.json': bytes() }),
      evidenceFolder('call', { ...copies, ...log }),
    ])
      expect([folder.kind, await manifestSources([folder])]).toEqual([
        folder.kind,
        [1, 3].map((each) => ({ name: 'call', bytes: bytes(each) })),
      ]);
  });

  it('are none in a document', async () => {
    expect(await manifestSources([await evidenceFile('call.json', bytes(0x7b, 0x7d))])).toEqual([]);
  });
});
