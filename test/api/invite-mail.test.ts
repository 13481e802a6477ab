import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { linkIn, mailsIn } from './people-rig.js';
import { startTestService, type TestService } from './test-service.js';

let running: TestService | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

describe('an invite', () => {
  it('without a mail server becomes a file for its owner alone', async () => {
    running = await startTestService({ MAIL_FROM: 'archivist@example.org' });
    const { status } = await running.owner.post('/archivist/v1/invites', { email: 'someone@example.com' });
    const { DATA_DIR: dataDir } = running.environment;
    const [mail, ...more] = await mailsIn(dataDir);
    expect([status, more]).toEqual([200, []]);
    expect(mail).toMatch(/^From: archivist@example\.org\r$/m);
    expect(mail).toMatch(/^To: someone@example\.com\r$/m);
    expect(linkIn(mail!)).toContain(running.url);
    const [file] = await readdir(join(dataDir, 'mail'));
    expect((await stat(join(dataDir, 'mail', file!))).mode & 0o777).toBe(0o600);
  });

  it('that no mail server takes is none', async () => {
    running = await startTestService({ SMTP_URL: 'smtp://127.0.0.1:1' });
    const { status, json } = await running.owner.post('/archivist/v1/invites', { email: 'someone@example.com' });
    expect([status, json['description']]).toEqual([503, expect.stringContaining('could not be sent')]);
    expect((await running.owner.get('/archivist/v1/invites')).json['invites']).toEqual([]);
  });
});
