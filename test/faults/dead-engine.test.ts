import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDeployment } from './deployment.js';
import { Follower } from './follower.js';
import { Journal } from './journal.js';

const WITHIN_MS = 180_000;

/** Loaded into each thread of the program: while the file `broken` is there, threads but the first fail in this way. */
const FAULTS = {
  'cannot sync a commit': `const { fsyncSync } = fs;
    fs.fsyncSync = (descriptor) => {
      if (isBroken()) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', errno: -5, syscall: 'fsync' });
      fsyncSync(descriptor);
    };
    syncBuiltinESMExports();`,
  'ends by an error of its own': `setInterval(() => {
      if (isBroken()) throw new Error('of its own');
    }, 20).unref();`,
};
const SAID = {
  'cannot sync a commit': 'Error: the embedded database died: PANIC:  could not fsync file',
  'ends by an error of its own': 'Error: of its own',
};

describe('the thread of the embedded database', () => {
  it.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])(
    '%s: the service confirms nothing any more, ends and says why, and the next start has all that was confirmed',
    async (fault) => {
      const deployment = await createDeployment('embedded');
      try {
        const [preload, broken] = [join(deployment.folder, 'preload.mjs'), join(deployment.folder, 'broken')];
        await writeFile(
          preload,
          `import fs from 'node:fs';
          import { syncBuiltinESMExports } from 'node:module';
          import { isMainThread } from 'node:worker_threads';
          const isBroken = () => fs.existsSync(${JSON.stringify(broken)});
          if (!isMainThread) { ${FAULTS[fault]} }`,
        );
        let service = await deployment.start({ NODE_OPTIONS: `--import=${preload}` });
        const journal = await Journal.begin(service.url);
        const follower = new Follower(deployment, journal);
        await journal.sendMany(service.url, 6);
        await writeFile(broken, '');
        let confirmed = 0;
        while (await journal.send(service.url).catch(() => false)) confirmed += 1;
        // The other thread lives for a moment more, and what it confirms is on disk.
        if (fault === 'cannot sync a commit') expect(confirmed).toBe(0);
        expect(await service.ended).toBe(1);
        expect(service.output()).toContain(SAID[fault]);
        await rm(broken);
        service = await deployment.start();
        await follower.audit(service.url);
        await service.stop();
      } finally {
        await deployment.close();
      }
    },
    WITHIN_MS,
  );
});
