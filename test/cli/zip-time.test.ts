import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { packSecrets } from '../../src/cli/backup/sealed-secrets.js';
import { zipBundle } from '../../src/core/bundle/zip-bundle.js';
import { utf8 } from '../../src/core/bytes.js';

const ZONES = ['UTC', 'America/Los_Angeles', 'Asia/Tokyo', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];
const before = process.env['TZ'];

afterEach(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

/** Makes something in each time zone. */
async function inEachZone<T>(make: () => T): Promise<Awaited<T>[]> {
  const made: Awaited<T>[] = [];
  for (const zone of ZONES) {
    process.env['TZ'] = zone;
    expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
    made.push(await make());
  }
  return made;
}

it('the keys and the evidence have the same zip in every time zone, also west of Greenwich', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'archivist-zip-time-'));
  try {
    await writeFile(join(folder, 'root.key'), 'a key');
    const [keys, ...otherKeys] = await inEachZone(() => packSecrets({ keysDir: folder, dataDir: folder }));
    for (const other of otherKeys) expect(other).toEqual(keys);
    const [bundle, ...others] = await inEachZone(() => zipBundle({ 'event.json': utf8('{}') }, undefined, 6));
    for (const other of others) expect(other).toEqual(bundle);
  } finally {
    await rm(folder, { recursive: true });
  }
});
