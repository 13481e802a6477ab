import { z } from 'zod';
import { type Route, route } from '../platform/http/route.js';
import type { ServiceHealth } from './service-health.js';
import { statusPage } from './status-page.js';

/** What the routes outside the interface need from the service. */
interface StatusSource {
  health(): Promise<ServiceHealth>;
  readonly publicUrl: string;
  /** The one fact that a verifier must be given about this deployment. */
  rootFingerprint(): string;
}

/** Liveness, readiness and the page at `/`. They need no token and reveal nothing inside tenancies. */
export function statusRoutes(source: StatusSource): Route[] {
  const health = oneAtATime(source.health);
  const shared = { method: 'GET', access: 'public', extension: true, success: 200 } as const;
  return [
    route({
      ...shared,
      path: '/healthz',
      operationId: 'Status_Health',
      summary: 'Liveness: the process responds',
      codes: [],
      response: z.strictObject({ status: z.literal('ok') }),
      handle: async () => ({ body: { status: 'ok' } }),
    }),
    route({
      ...shared,
      path: '/readyz',
      operationId: 'Status_Ready',
      summary: 'Readiness: database, queue and sequencers',
      codes: [503],
      response: z.strictObject({
        ready: z.boolean(),
        checks: z.record(z.string(), z.string()),
        halted_logs: z.array(z.strictObject({ log: z.string(), tenancy: z.string(), kind: z.string() })),
      }),
      handle: async () => {
        const found = await health();
        return { status: found.ready ? 200 : 503, body: found };
      },
    }),
    route({
      ...shared,
      path: '/',
      operationId: 'Status_Page',
      summary: 'Show the status page',
      codes: [],
      rawResponse: 'text/html',
      handle: async () => {
        const page = statusPage(await health(), source.publicUrl, source.rootFingerprint());
        return {
          bytes: new TextEncoder().encode(page),
          contentType: 'text/html; charset=utf-8',
        };
      },
    }),
  ];
}

/** Anybody may ask, and a deployment may have very many logs: who asks during a look gets what it finds. */
function oneAtATime<Found>(look: () => Promise<Found>): () => Promise<Found> {
  let looking: Promise<Found> | undefined;
  return () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
}
