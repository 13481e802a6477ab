import { expect, it } from 'vitest';
import { requireUsableServer, requireWritable } from '../../../src/platform/postgres/usable-server.js';

const GOOD = { encoding: 'UTF8', version: '18.4', versionNumber: 180_004 };

it('a new database is accepted in UTF-8 on a server that has what our migrations use', () => {
  requireUsableServer(GOOD);
  requireUsableServer({ ...GOOD, version: '13.0', versionNumber: 130_000 });
});

it('a server that is too old is named with its release and with the one to use', () => {
  expect(() => requireUsableServer({ ...GOOD, version: '12.22 (Debian)', versionNumber: 120_022 })).toThrow(
    'PostgreSQL 12.22 (Debian) is too old: use PostgreSQL 14 or newer',
  );
});

it('a database that cannot store all text is refused', () => {
  expect(() => requireUsableServer({ ...GOOD, encoding: 'LATIN1' })).toThrow('the encoding LATIN1 cannot store');
});

it('a standby is named as such, also where nothing else forbids to write', async () => {
  const saying = (standby: boolean) => ({ query: async () => ({ rows: [{ standby, writable: !standby }] }) }) as never;
  await expect(requireWritable(saying(false))).resolves.toBeUndefined();
  await expect(requireWritable(saying(true))).rejects.toThrow(
    'it only reads, because its server is a standby: name the primary, or promote this server',
  );
});
