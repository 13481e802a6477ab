import { Gauge, type Registry } from 'prom-client';
import type { SpoolState } from './spool-folder.js';

/** Shows in a registry what waits on this disk; a folder that cannot be read shows as NaN. */
export function registerSpoolMetrics(registry: Registry, state: () => Promise<SpoolState>): void {
  const gauge = (name: string, help: string, of: (state: SpoolState) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await state().then(of, () => Number.NaN));
      },
    });
  };
  gauge('conserver_link_spool_depth', 'Operations that wait on this disk for the queue', ({ depth }) => depth);
  gauge('conserver_link_spool_oldest_seconds', 'Age of the oldest of them', ({ oldestSeconds }) => oldestSeconds);
  gauge('conserver_link_spool_set_aside', 'Files there that are no operations', ({ setAside }) => setAside.length);
}
