import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import { nodeSha256 } from '../../src/platform/node-sha256.js';

it.each([
  ['the core', sha256],
  ['the platform', nodeSha256],
])('%s hashes the parts as one, whatever was hashed or refused before', (_, hash) => {
  expect(toHex(hash())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(toHex(hash(utf8('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), fc.boolean(), (parts, refuse) => {
      if (refuse) expect(() => hash(utf8('begun'), undefined as never)).toThrow();
      const digest = hash(...parts);
      const kept = toHex(digest);
      hash(utf8('another'));
      expect(toHex(digest)).toBe(kept);
      expect(kept).toBe(createHash('sha256').update(Buffer.concat(parts)).digest('hex'));
    }),
  );
});
