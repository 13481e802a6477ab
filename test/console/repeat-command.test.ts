import { expect, it } from 'vitest';
import type { CheckResult } from '../../src/console/check-evidence.js';
import { repeatCommand } from '../../src/console/repeat-command.js';
import { encodeVkey, NoteKeyType } from '../../src/core/tlog/signed-note.js';
import { createVerdict } from '../../src/core/verify/verdict.js';

const witness = { name: 'witness.example', type: NoteKeyType.cosignature, publicKey: new Uint8Array(32).fill(7) };
const command = (parts: Partial<Extract<CheckResult, { verdict: unknown }>>) =>
  repeatCommand({
    verdict: createVerdict(),
    files: [{ file: 'evidence.zip', kind: 'bundle' }],
    origin: 'pinned_root',
    reader: { keys: [], witnesses: [] },
    fingerprint: 'AITC-A7TU',
    ...parts,
  });

it('the command that repeats a check pins what the reader pinned', () => {
  const reader = { keys: [], issuer: 'did:web:a.example:tenant:7', witnesses: [witness] };
  expect(command({ reader })).toBe(
    `vcon-archivist verify --root AITC-A7TU --issuer did:web:a.example:tenant:7 --witness ${encodeVkey(witness)} evidence.zip`,
  );
});

it('the command that repeats a check has a place for key files, wherever the reader gave some', () => {
  const keys = [{ kty: 'OKP', crv: 'Ed25519', x: '' }] as const;
  const reader = { keys, witnesses: [] };
  expect(command({ reader })).toBe('vcon-archivist verify --root AITC-A7TU --log-keys … --issuer-keys … evidence.zip');
  expect(command({ reader, origin: 'given_keys' })).toBe(
    'vcon-archivist verify --log-keys … --issuer-keys … evidence.zip',
  );
});

it('the command that repeats a check trusts no root that only the evidence names', () => {
  expect(command({ origin: 'claimed_root' })).toBe('vcon-archivist verify --root … evidence.zip');
});

it('the command that repeats a check names files, whatever their names are', () => {
  const files = ['-o.json', "it's $(x).json"].map((file) => ({ file, kind: 'vcon' as const }));
  expect(command({ files })).toBe("vcon-archivist verify --root AITC-A7TU ./-o.json 'it'\\''s $(x).json'");
});
