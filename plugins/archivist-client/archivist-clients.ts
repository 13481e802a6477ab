import type { Clock } from '../../src/platform/clock.js';
import type { ClientCredentials, PluginSettings } from '../settings/plugin-settings.js';
import { type ArchivistClient, createArchivistClient } from './archivist-client.js';
import { bulkRecorder } from './bulk-recorder.js';
import { DeliverLater } from './delivery-failure.js';

/** The client that delivers an operation, by the label of its tenancy; undefined is the plugin's own tenancy. */
export type ArchivistClients = (tenancy: string | undefined) => ArchivistClient;

/**
 * Creates one client for each application. The result throws {@link DeliverLater} for a tenancy that is no longer
 * configured.
 */
export function archivistClients(
  settings: Pick<PluginSettings, 'archivistUrl' | 'clientId' | 'clientSecret' | 'bulk'>,
  tenancies: ReadonlyMap<string, ClientCredentials>,
  clock: Clock,
  secretExpires: (clientId: string, atMs: number) => void = () => {},
): ArchivistClients {
  const clientOf = ({ clientId, clientSecret }: ClientCredentials): ArchivistClient => {
    const client = createArchivistClient({ url: settings.archivistUrl, clientId, clientSecret, clock, secretExpires });
    return settings.bulk ? bulkRecorder(client) : client;
  };
  const own = clientOf(settings);
  const others = new Map([...tenancies].map(([tenancy, credentials]) => [tenancy, clientOf(credentials)]));
  return (tenancy) => {
    const client = tenancy === undefined ? own : others.get(tenancy);
    if (!client) throw new DeliverLater('the tenancy of this operation is not in ARCHIVIST_TENANCIES');
    return client;
  };
}
