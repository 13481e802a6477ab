import type { Clock } from '../../src/platform/clock.js';
import type { ClientCredentials, PluginSettings } from '../conserver-link/plugin-settings.js';
import { type ArchivistClient, createArchivistClient } from './archivist-client.js';
import { DeliverLater } from './delivery-failure.js';

/** The client in whose name an operation is delivered, by the label of its tenancy; undefined is the plugin's own. */
export type ArchivistClients = (tenancy: string | undefined) => ArchivistClient;

/** One client for each application. The answer throws {@link DeliverLater} for a tenancy that is no longer configured. */
export function archivistClients(
  settings: Pick<PluginSettings, 'archivistUrl' | 'clientId' | 'clientSecret'>,
  tenancies: ReadonlyMap<string, ClientCredentials>,
  clock: Clock,
): ArchivistClients {
  const url = settings.archivistUrl;
  const own = createArchivistClient({ url, clientId: settings.clientId, clientSecret: settings.clientSecret, clock });
  const others = new Map(
    [...tenancies].map(([tenancy, credentials]) => [tenancy, createArchivistClient({ url, ...credentials, clock })]),
  );
  return (tenancy) => {
    const client = tenancy === undefined ? own : others.get(tenancy);
    if (!client) throw new DeliverLater('the tenancy of this operation is not in ARCHIVIST_TENANCIES');
    return client;
  };
}
