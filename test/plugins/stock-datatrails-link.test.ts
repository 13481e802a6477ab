import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createArchivistClient } from '../../plugins/archivist-client/archivist-client.js';
import { readKeyDocument, verifyTransparentStatement } from '../../src/core/index.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { eventually } from './plugin-rig.js';

const VCON = readFileSync(new URL('../../fixtures/vcon/call.vcon.json', import.meta.url));
const UUID = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01';
const PAYLOAD = createHash('sha256').update(VCON).digest('hex');

/** The requests of the conserver's stock `links.datatrails`, in its order, with its headers and nothing else. */
class StockLink {
  readonly #api: string;
  readonly #credentials: { clientId: string; clientSecret: string };

  constructor(url: string, credentials: { clientId: string; clientSecret: string }) {
    this.#api = `${url}/archivist`;
    this.#credentials = credentials;
  }

  async #token(): Promise<string> {
    const { clientId: client_id, clientSecret: client_secret } = this.#credentials;
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    const answer = await fetch(`${this.#api}/iam/v1/appidp/token`, { method: 'POST', body });
    expect(answer.status).toBe(200);
    const { access_token, expires_in } = (await answer.json()) as { access_token: string; expires_in: number };
    // It asks anew for each call when the token lasts less.
    expect(expires_in).toBeGreaterThan(300);
    return access_token;
  }

  async #send(token: string, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = {
      authorization: `Bearer ${token}`,
      'DataTrails-User-Agent': 'oss/conserverlink/0.3.0',
      'DataTrails-Partner-ID': 'acme',
      'content-type': 'application/json',
    };
    const answer = await fetch(this.#api + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    expect([method, path, answer.ok]).toEqual([method, path, true]);
    return (await answer.json()) as Record<string, unknown>;
  }

  /** One run for one vCon and operation; the asset of the day is found or made. */
  async run(operation: string, linkName: string, day: string) {
    const token = await this.#token();
    const droid = { arc_display_type: 'vcon_droid', conserver_link_version: '0.3.0', droid_id: day };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(droid)) query.set(`attributes.${name}`, value);
    const { assets } = (await this.#send(token, 'GET', `/v2/assets?${query}`)) as { assets: { identity: string }[] };
    const asset =
      assets[0] ??
      (await this.#send(token, 'POST', '/v2/assets', {
        behaviours: ['RecordEvidence'],
        attributes: { arc_display_name: `Droid ${day}`, conserver_link_name: linkName, ...droid },
        public: false,
      }));
    const attributes = {
      arc_display_type: operation,
      arc_event_type: operation,
      conserver_link: 'datatrails',
      conserver_link_name: linkName,
      conserver_link_version: '0.3.0',
      payload: PAYLOAD,
      payload_hash_alg: 'SHA-256',
      payload_preimage_content_type: 'application/vcon+json',
      subject: `vcon://${UUID}`,
      timestamp_declared: '2026-11-18T09:20:02.551000+00:00',
      vcon_draft_version: '01',
      vcon_operation: operation,
    };
    const event = await this.#send(token, 'POST', `/v2/${asset['identity' as keyof typeof asset]}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: attributes,
      asset_attributes: {},
    });
    const free = await this.#send(token, 'POST', '/v1/events', { attributes, trails: [`vcon://${UUID}`] });
    return { asset: String(asset['identity' as keyof typeof asset]), event, free };
  }
}

describe('the stock datatrails link, as it is', () => {
  let service: TestService;
  let link: StockLink;
  beforeAll(async () => {
    service = await startTestService({ PLUGIN_PORT: '0' });
    link = new StockLink(service.url, service.service.firstOwner!);
  });
  afterAll(() => service.close());

  it('finds its asset of the day right after it has made it, and makes one a day', async () => {
    const first = await link.run('vcon_created', 'datatrails_created', '2026-11-20');
    const second = await link.run('vcon_enhanced', 'datatrails_enhanced', '2026-11-20');
    const nextDay = await link.run('vcon_created', 'datatrails_created', '2026-11-21');
    expect(second.asset).toBe(first.asset);
    expect(nextDay.asset).not.toBe(first.asset);
    for (const { event, free } of [first, second, nextDay]) {
      expect(event['identity']).toMatch(/^assets\/[0-9a-f-]{36}\/events\/[0-9a-f-]{36}$/);
      expect(free['identity']).toMatch(/^events\/[0-9a-f-]{36}$/);
    }
    const trail = await service.owner.get(
      `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(`vcon://${UUID}`)}`,
    );
    expect(trail.json['events']).toHaveLength(3);
  });

  it('is seen by the plugin as the one that recorded a vCon', async () => {
    await link.run('vcon_created', 'datatrails_created', '2026-11-20');
    const { url } = service;
    const client = createArchivistClient({ url, ...service.service.firstOwner!, clock: { now: () => Date.now() } });
    const events = await client.eventsAbout(`vcon://${UUID}`);
    expect(events.length).toBeGreaterThan(0);
    for (const attributes of events) {
      expect(attributes['conserver_link']).toBe('datatrails');
      expect(attributes).not.toHaveProperty('capture_method');
    }
    expect(await client.eventsAbout('vcon://019a9f20-4d10-8c3a-a1f4-000000000000')).toEqual([]);
  });

  it('gets signed statements and receipts that verify against the vCon itself, of both of its events', async () => {
    const { event, free } = await link.run('vcon_sent', 'datatrails_sent', '2026-11-22');
    const keys = async (path: string) => readKeyDocument((await service.anonymous.get(path)).bytes);
    const trust = {
      logKeys: await keys('/.well-known/scitt-keys'),
      issuerKeys: await keys('/archivist/v1/didweb/did.json'),
      document: VCON,
    };
    for (const path of [`/archivist/v2/${event['identity']}`, `/archivist/v1/${free['identity']}`]) {
      let bytes = new Uint8Array();
      await eventually(async () => {
        const answer = await service.owner.get(`${path}/transparent-statement`);
        bytes = new Uint8Array(answer.bytes);
        return answer.status === 200;
      });
      await verifyTransparentStatement(bytes, trust);
    }
  });

  it('is refused with 401 for a wrong secret, as it expects', async () => {
    const wrong = { ...service.service.firstOwner!, clientSecret: 'wrong' };
    const { clientId: client_id, clientSecret: client_secret } = wrong;
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    const answer = await fetch(`${service.url}/archivist/iam/v1/appidp/token`, { method: 'POST', body });
    expect(answer.status).toBe(401);
  });
});
