import { pino } from 'pino';
import { startConserverLink } from '../../plugins/start/start-conserver-link.js';
import { systemClock } from '../../src/platform/clock.js';
import { openDatabase } from '../../src/platform/postgres/open-database.js';
import { openRedisQueues, postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import { parseConfig } from '../../src/service/config/config.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';

// The plugin alone in a process, delivering to nobody: what a conserver waits for is the capture.
const config = parseConfig(process.env);
const logger = pino({ level: 'silent' });
const backend = config.redisUrl
  ? await openRedisQueues(config.redisUrl, logger)
  : postgresQueues(await openDatabase(config, logger), logger);
const link = await startConserverLink({
  disk: unwatchedDisk(),
  settings: {
    archivistUrl: 'http://127.0.0.1:1',
    clientId: 'bench',
    clientSecret: 'bench',
    host: '127.0.0.1',
    port: 0,
  },
  keeps: config,
  backend,
  logger,
  clock: systemClock,
  pace: { firstMs: 3_600_000, mostMs: 3_600_000 },
});
process.stdout.write(`listens on ${link.url} \n`);
