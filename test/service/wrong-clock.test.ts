import { describe, it, type TestContext } from 'vitest';
import { parseConfig } from '../../src/service/config/config.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { type RunningService, startService } from '../../src/start-service.js';
import { type Client, clientOf, clientWith, until } from '../api/test-service.js';
import { freshVcon, report } from '../plugins/plugin-rig.js';
import { engines } from '../support/engines.js';
import { freePort } from '../support/free-port.js';

const HOUR_MS = 3_600_000;
const YEARS_MS = 15 * 365.25 * 24 * HOUR_MS;
const NOTICED_WITHIN_MS = 60_000;
const EVENT = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: {} };

/** A service whose clock the test sets; it ends with the test. */
async function startPlace(
  engine: ReturnType<typeof engines>[number],
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  pluginPort = 0,
) {
  const place = await engine.place();
  const port = await freePort();
  const ports = { PORT: String(port), PLUGIN_PORT: String(pluginPort) };
  const config = parseConfig({ ...ports, PLUGIN_REPORTS: 'off', LOG_LEVEL: 'silent', ...place.environment });
  const clock = { offMs: 0, now: () => Date.now() + clock.offMs };
  let running: RunningService | undefined;
  const stop = async (): Promise<void> => {
    await running?.close();
    running = undefined;
  };
  onTestFinished(async () => {
    await stop();
    await place.remove();
  });
  return {
    clock,
    url: `http://127.0.0.1:${port}`,
    dataDir: config.dataDir,
    stop,
    async start() {
      running = await startService(config, { clock });
    },
  };
}

interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

async function readiness(anonymous: Client): Promise<Readiness> {
  return (await anonymous.get('/readyz')).json as unknown as Readiness;
}

async function timesOf(owner: Client): Promise<string[]> {
  const { json } = await owner.get('/archivist/v2/assets/-/events?page_size=100&order_by=SIMPLEHASHV1');
  return (json['events'] as { timestamp_accepted: string; timestamp_committed: string }[]).flatMap((event) => [
    event.timestamp_accepted,
    event.timestamp_committed,
  ]);
}

describe.concurrent.each(engines())('a clock that is wrong, on %s', (engine) => {
  it('stops what takes a time from it: nothing is accepted, signed or judged by it, all say so, and all goes on when it is right', async ({
    expect,
    onTestFinished,
  }) => {
    const place = await startPlace(engine, { onTestFinished });
    await place.start();
    const first = (await readCredentials(place.dataDir))!;
    const owner = await clientOf(place.url, first.client_id, first.client_secret);
    const anonymous = clientWith(place.url, '');
    const asset = String((await owner.post('/archivist/v2/assets', { attributes: {} })).json['identity']);
    const record = () => owner.post(`/archivist/v2/${asset}/events`, EVENT);
    const confirmed = (identity: string) =>
      until(
        () => owner.get(`/archivist/v2/${identity}`),
        ({ json }) => json['confirmation_status'] === 'CONFIRMED',
        NOTICED_WITHIN_MS,
      );
    await confirmed(String((await record()).json['identity']));

    for (const [offMs, said] of [
      [HOUR_MS, 'forward by 3600 s'],
      [-HOUR_MS, 'back by 3600 s'],
      [YEARS_MS, 'ids end before that'],
      [-YEARS_MS, 'back by'],
    ] as const) {
      place.clock.offMs = offMs;
      const refused = await record();
      expect([refused.status, refused.json['description'], refused.headers.get('retry-after')]).toEqual([
        503,
        expect.stringContaining(said),
        '30',
      ]);
      // A token is neither revived nor ended by a clock that is wrong, and none is issued.
      expect((await owner.get(`/archivist/v2/${asset}`)).status).toBe(503);
      expect(await clientOf(place.url, first.client_id, first.client_secret)).toMatchObject({ token: 'undefined' });
      expect(await readiness(anonymous)).toMatchObject({
        ready: false,
        checks: { clock: expect.stringMatching(new RegExp(`^WRONG: .*${said}`)) },
      });
      const { bytes } = await anonymous.get('/metrics');
      expect(new TextDecoder().decode(bytes)).toMatch(/^archivist_clock_wrong 1$/m);
      expect((await anonymous.get('/healthz')).status).toBe(200);

      place.clock.offMs = 0;
      await confirmed(String((await record()).json['identity']));
      expect((await readiness(anonymous)).ready).toBe(true);
    }
    const now = Date.now();
    for (const time of await timesOf(owner)) expect(Math.abs(Date.parse(time) - now)).toBeLessThan(HOUR_MS / 2);

    // At a start there is no earlier reading: the database's clock and the last seals tell.
    await place.stop();
    place.clock.offMs = -HOUR_MS;
    await place.start();
    expect(await readiness(anonymous)).toMatchObject({
      ready: false,
      checks: { clock: expect.stringMatching(/3[56]\d\d s behind (the last seal|the database's)/) },
    });
    expect((await record()).status).toBe(503);
    await place.stop();
    place.clock.offMs = 0;
    await place.start();
    expect((await readiness(anonymous)).ready).toBe(true);
    await confirmed(String((await record()).json['identity']));
  }, 180_000);

  it('loses no capture: the plugin takes it without the time, which the service then takes when it is right', async ({
    expect,
    onTestFinished,
  }) => {
    const pluginPort = await freePort();
    const place = await startPlace(engine, { onTestFinished }, pluginPort);
    await place.start();
    const first = (await readCredentials(place.dataDir))!;
    const owner = await clientOf(place.url, first.client_id, first.client_secret);
    const capture = () =>
      report(`http://127.0.0.1:${pluginPort}/operations/vcon_created`, freshVcon({ created_at: undefined }));
    const recorded = async (subject: string) => {
      const path = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(subject)}`;
      const found = await until(
        () => owner.get(path),
        ({ json }) => (json['events'] as unknown[] | undefined)?.length === 1,
        NOTICED_WITHIN_MS,
      );
      const [event] = found.json['events'] as {
        timestamp_declared: string;
        event_attributes: Record<string, string>;
      }[];
      return event!;
    };
    const begunMs = Date.now();
    place.clock.offMs = YEARS_MS;
    const { subject } = await capture();
    place.clock.offMs = 0;
    const { timestamp_declared, event_attributes: without } = await recorded(subject);
    expect(Date.parse(timestamp_declared)).toBeGreaterThanOrEqual(begunMs);
    expect(Date.parse(timestamp_declared)).toBeLessThanOrEqual(Date.now());
    expect(Object.keys(without).filter((name) => name.startsWith('timestamp_'))).toEqual([]);
    expect(Number(without['capture_sequence']!.split('-')[0])).toBeLessThanOrEqual(Date.now());
    const { event_attributes: after } = await recorded((await capture()).subject);
    expect(Math.abs(Date.parse(after['timestamp_observed']!) - Date.now())).toBeLessThan(HOUR_MS);
  }, 180_000);
});
