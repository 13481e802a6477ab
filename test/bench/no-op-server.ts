import { z } from 'zod';
import { createApp } from '../../src/app.js';
import { createAssetEventSchema } from '../../src/archivist/events/asset-event.js';
import { listen } from '../../src/platform/http/http-server.js';
import { route } from '../../src/platform/http/route.js';
import { createLogger } from '../../src/platform/logger.js';
import { uuidSchema } from '../../src/platform/uuid-schema.js';
import { createMetrics } from '../../src/service/metrics.js';

/**
 * The service's own stack and pipeline around one public route that parses an event and answers like the service, in the
 * same size, with nothing behind it: what is left when tokens and the database cost nothing.
 */
async function main(): Promise<void> {
  const answer = JSON.parse(process.env['BENCH_SAMPLE_ANSWER'] ?? '{}') as Record<string, unknown>;
  const noOp = route({
    method: 'POST',
    path: '/archivist/v2/assets/:uuid/events',
    operationId: 'NoOp',
    summary: 'Parses an event and answers one',
    access: 'public',
    success: 200,
    codes: [400],
    params: z.object({ uuid: uuidSchema }),
    body: createAssetEventSchema,
    handle: async ({ body }) => ({ body: { ...answer, event_attributes: body.event_attributes } }),
  });
  const metrics = createMetrics();
  const app = createApp([{ name: 'no-op', title: 'No-op', routes: [noOp] }], [], {
    schemas: {},
    authenticateOperator: () => undefined,
    authenticate: async () => {
      throw new Error('no route asks who is calling');
    },
    logger: createLogger('warn'),
    answered: (operation, code, seconds) => metrics.requests.observe({ operation, status: String(code) }, seconds),
    seconds: () => performance.now() / 1000,
    requireRightTime: () => undefined,
    requireRoom: () => undefined,
    publicUrl: 'http://127.0.0.1',
    version: 'bench',
    trustProxy: undefined,
    corsOrigins: [],
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  process.on('SIGTERM', () => process.exit(0));
  process.stdout.write(`no-op server listens on ${server.url} \n`);
}

await main();
