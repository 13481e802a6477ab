import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientWith, requestToken, template, until } from '../api/test-service.js';
import { killBuilt, startBuilt } from '../support/built-program.js';
import { engines } from '../support/engines.js';
import { serverUrl } from '../support/prerequisites.js';

const LISTENS = /^vcon-archivist listens on (\S+)/m;
const WITHIN_MS = 30_000;

afterAll(killBuilt);

describe.skipIf(!serverUrl)('one process with all roles on a server', { timeout: 120_000 }, () => {
  it('wakes no other session of the database for what its own thread has sealed', async () => {
    const place = await engines()[1]!.place();
    onTestFinished(() => place.remove());
    const made = { client_id: randomUUID(), client_secret: `${randomUUID()}${randomUUID()}` };
    const program = startBuilt('main', {
      ...place.environment,
      PUBLIC_URL: 'http://archivist.example',
      PORT: '0',
      PLUGIN_PORT: '0',
      BOOTSTRAP_CLIENT_ID: made.client_id,
      BOOTSTRAP_CLIENT_SECRET: made.client_secret,
    });
    const [, url] = await program.says(LISTENS);
    const session = new pg.Client({ connectionString: place.environment['DATABASE_URL'] });
    await session.connect();
    await session.query('LISTEN archivist');
    const woken: (string | undefined)[] = [];
    session.on('notification', ({ payload }) => woken.push(payload));

    const { json } = await requestToken(url!, { grant_type: 'client_credentials', ...made });
    const owner = clientWith(url!, String(json['access_token']), made.client_id);
    const asset = await owner.post('/archivist/v2/assets', { attributes: {} });
    const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template('vcon://a') };
    const event = await owner.post(`/archivist/v2/${String(asset.json['identity'])}/events`, body);
    const path = `/archivist/v2/${String(event.json['identity'])}`;
    await until(
      () => owner.get(path),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      WITHIN_MS,
    );
    expect(woken).toEqual([]);
    await session.end();
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
