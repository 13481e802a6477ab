import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { HttpClient } from './http-client.js';

/** Milliseconds of a page of assets, round by round: an Owner's, whom no policy concerns, and one that a policy gives. */
export interface PolicyFigures {
  readonly withoutPolicies: readonly number[];
  readonly byPolicy: readonly number[];
}

const POLICIES = 1000;
const NAMING_THE_CALLER = 10;
/** So many assets are what the policies give to the caller. */
const MATCHING = 20;
const PAGE = `/archivist/v2/assets?page_size=${MATCHING}`;

/** Asks a tenancy that has assets for pages of them, with many policies of which a few name the caller. */
export async function measurePolicies(
  { reader, headers }: { readonly reader: HttpClient; readonly headers: Readonly<Record<string, string>> },
  databaseUrl: string,
  rounds: number,
): Promise<PolicyFigures> {
  const caller = await newApplication(reader, headers);
  await copyPolicies(databaseUrl, caller.clientId);
  const figures = { withoutPolicies: [] as number[], byPolicy: [] as number[] };
  for (let round = -1; round < rounds; round += 1) {
    const whole = await timed(reader, headers);
    const given = await timed(reader, caller.headers);
    if (given.assets !== MATCHING) throw new Error(`the policies gave ${given.assets} assets`);
    if (round < 0) continue; // the first one warms up
    figures.withoutPolicies.push(whole.ms);
    figures.byPolicy.push(given.ms);
  }
  return figures;
}

async function timed(reader: HttpClient, headers: Readonly<Record<string, string>>) {
  const begun = performance.now();
  const { assets } = (await reader.json(PAGE, headers)) as { assets: unknown[] };
  return { ms: performance.now() - begun, assets: assets.length };
}

async function newApplication(reader: HttpClient, headers: Readonly<Record<string, string>>) {
  const post = async (path: string, body: string, more: Record<string, string>) => {
    const { status, bytes } = await reader.send({ method: 'POST', path, headers: more, body });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    return JSON.parse(bytes.toString());
  };
  const application = JSON.stringify({ display_name: 'A caller that policies name' });
  const made = await post('/archivist/iam/v1/applications', application, { ...headers });
  const form = {
    grant_type: 'client_credentials',
    client_id: made.client_id,
    client_secret: made.credentials[0].secret,
  };
  const token = await post('/archivist/iam/v1/appidp/token', new URLSearchParams(form).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
  return { clientId: String(made.client_id), headers: { authorization: `Bearer ${token.access_token}` } };
}

/** Policies by a free label; one of those that name the caller matches some assets, the others none. */
async function copyPolicies(databaseUrl: string, clientId: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const label = `label ${randomUUID()}`;
  await client.query(
    `INSERT INTO archivist.asset (tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes, behaviours,
       proof_mechanism, public, tracked, owner, creator_issuer, creator_subject, created_at)
     SELECT a.tenant_id, gen_random_uuid(), a.origin_tenant_id, a.new_asset_event_id,
            jsonb_build_object('partner', $1::text || ' 1'), a.behaviours, a.proof_mechanism, false, true, a.owner,
            a.creator_issuer, a.creator_subject, a.created_at
       FROM generate_series(1, ${MATCHING}),
            (SELECT * FROM archivist.asset WHERE tenant_id = origin_tenant_id LIMIT 1) AS a`,
    [label],
  );
  await client.query(
    `WITH made AS (INSERT INTO archivist.access_policy (tenant_id, policy_id, version, display_name, description, filters,
         access_permissions, created_at)
       SELECT a.tenant_id, gen_random_uuid(), n, 'policy', '',
              jsonb_build_array(jsonb_build_object('or', jsonb_build_array('attributes.partner=' || $1::text || ' ' || n))),
              jsonb_build_array(jsonb_build_object('subjects', '[]'::jsonb, 'behaviours', '["*"]'::jsonb,
                'include_attributes', '[]'::jsonb, 'asset_attributes_read', '["*"]'::jsonb,
                'asset_attributes_write', '[]'::jsonb, 'event_arc_display_type_read', '["*"]'::jsonb,
                'event_arc_display_type_write', '[]'::jsonb, 'user_attributes',
                jsonb_build_array(jsonb_build_object('or', jsonb_build_array('subject=' ||
                  CASE WHEN n <= ${NAMING_THE_CALLER} THEN $2 ELSE 'other ' || n END))))), now()
         FROM generate_series(1, ${POLICIES}) AS n,
              (SELECT tenant_id FROM archivist.asset WHERE tenant_id = origin_tenant_id LIMIT 1) AS a
       RETURNING tenant_id, policy_id, access_permissions)
     INSERT INTO archivist.access_policy_principal (tenant_id, principal, policy_id)
       SELECT tenant_id, access_permissions -> 0 -> 'user_attributes' -> 0 -> 'or' ->> 0, policy_id FROM made`,
    [label, clientId],
  );
  await client.query('ANALYZE');
  await client.end();
}
