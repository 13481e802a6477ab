import { Gauge, type Registry } from 'prom-client';
import type { SpoolState } from './spool-folder.js';

/**
 * Reports what waits on the local disk in a registry. NaN is a folder that cannot be read, and the age while the clock is
 * wrong.
 */
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
  gauge('conserver_link_spool_depth', 'Operations on the local disk that wait for the queue', ({ depth }) => depth);
  gauge('conserver_link_spool_oldest_seconds', 'Age of the oldest of them', ({ oldestSeconds }) => oldestSeconds);
  gauge(
    'conserver_link_spool_set_aside',
    'Files there that are not valid operations',
    ({ setAside }) => setAside.length,
  );
}
