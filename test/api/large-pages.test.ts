import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { type Answer, startTestService, type TestService } from './test-service.js';

const LARGE = 12;
const SMALL = 100;
/** A legal body has 1 MiB. */
const TEXT = 1_000_000;
/** A page's rows, the one that exceeded their limit, and what a response adds to them. */
const MOST_BYTES = (2 + 1 + 1) * 1024 * 1024;

const idOf = (kind: number, number: string) =>
  `('0190a8c0-0000-7000-8${kind}00-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
const ownTenancy = `(SELECT min(tenant_id::text)::uuid FROM archivist.application)`;
const who = `jsonb_build_object('issuer', 'https://idp.example', 'subject', 'agent', 'display_name', 'call', 'email', '')`;
/** Three of four compress to a hundredth, which the database must not take for their size; the fourth does not. */
const text = `CASE WHEN n >= ${LARGE} THEN 'short' WHEN n % 4 > 0 THEN repeat('x', ${TEXT})
  ELSE (SELECT string_agg(md5(n || ' ' || i), '') FROM generate_series(1, ${TEXT / 32}) AS i) END`;

/** The newest assets are short and the oldest are large; each has an event that is as large. */
const INSERT = `
  WITH n AS (SELECT n, jsonb_build_object('text', ${text}) AS large FROM generate_series(0, ${LARGE + SMALL - 1}) AS n),
  assets AS (INSERT INTO archivist.asset (tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes,
      behaviours, proof_mechanism, public, tracked, owner, creator_issuer, creator_subject, created_at)
    SELECT ${ownTenancy}, ${idOf(1, 'n')}, ${ownTenancy}, ${idOf(0, 'n')}, large, '{RecordEvidence}', 'MERKLE_LOG',
      false, true, '0x00', 'https://idp.example', 'agent', now() FROM n)
  INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
      event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared, timestamp_accepted,
      accepted_at, from_address)
    SELECT ${ownTenancy}, ${idOf(0, 'n')}, ${idOf(1, 'n')}, ${ownTenancy}, 'NewAsset', 'AssetCreator', large, '{}',
      ${who}, ${who}, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', now(), '0x00' FROM n`;

describe.each(engines())('a list of 12 rows of 1 MB and 100 short ones, on %s', (engine) => {
  let running: TestService;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const place = await engine.place();
    remove = place.remove;
    running = await startTestService({ DATABASE_URL: '', ...place.environment });
    await running.asOwner(INSERT);
  });
  afterAll(async () => {
    await running?.close();
    await remove?.();
  });

  const numbersOf = ({ json }: Answer) =>
    (Object.values(json).find(Array.isArray) as { identity: string }[]).map(({ identity }) =>
      Number.parseInt(identity.slice(-12), 16),
    );

  /** The numbers of the entries of every page. */
  async function pagesOf(path: string): Promise<number[][]> {
    const pages: number[][] = [];
    for (let token = '', more = true; more; ) {
      const page = await running.owner.get(`${path}?page_size=1000&page_token=${encodeURIComponent(token)}`);
      expect([page.status, page.bytes.length < MOST_BYTES]).toEqual([200, true]);
      pages.push(numbersOf(page));
      token = String(page.json['next_page_token']);
      more = token !== '';
    }
    return pages;
  }

  it.each(['/archivist/v2/assets', '/archivist/v2/assets/-/events'])(
    '%s has pages of a few megabytes, which together have each entry once and in order',
    async (path) => {
      const [pages, others] = await Promise.all([pagesOf(path), pagesOf(path)]);
      const newestFirst = Array.from({ length: LARGE + SMALL }, (_, each) => LARGE + SMALL - 1 - each);
      expect(pages.flat()).toEqual(newestFirst);
      expect(others).toEqual(pages);
      expect(pages.every((page) => page.length > 0)).toBe(true);
      expect(pages[0]!.length).toBeGreaterThan(SMALL);
    },
  );
});
