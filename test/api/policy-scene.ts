import { sendRequest } from './send-request.js';
import { type Answer, type Client, startTestService, type TestService, until } from './test-service.js';

export const POLICIES = '/archivist/iam/v1/access_policies';
const ASSETS = '/archivist/v2/assets';

/** A service with what tests of policies do over and over. */
export interface Scene extends TestService {
  /** The identity of a new asset of the owner. */
  asset(attributes: Record<string, unknown>, by?: Client): Promise<string>;
  /** Records an event and answers its identity. */
  event(asset: string, body: Record<string, unknown>, by?: Client): Promise<string>;
  /** The identity of a policy of the owner with one permission over assets of this display type. */
  policy(type: string, permission: Record<string, unknown>, by?: Client): Promise<string>;
  change(client: Client, path: string, body: unknown): Promise<Answer>;
  remove(client: Client, path: string): Promise<Answer>;
}

export async function openScene(): Promise<Scene> {
  const service = await startTestService();
  const { owner, url } = service;
  return {
    ...service,
    asset: async (attributes, by = owner) => made(await by.post(ASSETS, { attributes })),
    event: async (asset, body, by = owner) => made(await by.post(`/archivist/v2/${asset}/events`, recorded(body))),
    policy: async (type, permission, by = owner) =>
      made(
        await by.post(POLICIES, {
          display_name: `Policy of ${type}`,
          filters: [{ or: [`attributes.arc_display_type=${type}`] }],
          access_permissions: [permission],
        }),
      ),
    change: (client, path, body) => sendRequest(url, client, 'PATCH', path, body),
    remove: (client, path) => sendRequest(url, client, 'DELETE', path),
  };
}

export function recorded(body: Record<string, unknown>): Record<string, unknown> {
  return { operation: 'Record', behaviour: 'RecordEvidence', ...body };
}

export function made(answer: Answer): string {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.json['description']}`);
  return String(answer.json['identity']);
}

/** A permission for one application. */
export function forClient(client: Client, permission: Record<string, unknown>): Record<string, unknown> {
  return { user_attributes: [{ or: [`subject=${client.clientId}`] }], ...permission };
}

/** Identities on a page of a list. */
export async function listed(client: Client, path: string, key: 'assets' | 'events' = 'assets'): Promise<string[]> {
  const { json } = await client.get(path);
  return (json[key] as { identity: string }[]).map(({ identity }) => identity);
}

export async function confirmed(client: Client, identity: string): Promise<void> {
  await until(
    () => client.get(`/archivist/v2/${identity}`),
    ({ json }) => json['confirmation_status'] === 'CONFIRMED',
    20_000,
  );
}

/** Each Owner imports the other's Self; answers by which subject the first one knows the second. */
export async function exchangeSubjects(first: Client, second: Client): Promise<string> {
  const path = '/archivist/iam/v1/subjects';
  const self = async (client: Client) => {
    const { json } = await client.get(`${path}/00000000-0000-0000-0000-000000000000`);
    return { wallet_pub_key: json['wallet_pub_key'], tessera_pub_key: json['tessera_pub_key'] };
  };
  const known = made(await first.post(path, { display_name: 'Acme', ...(await self(second)) }));
  made(await second.post(path, { display_name: 'Us', ...(await self(first)) }));
  return known;
}
