import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../platform/errors.js';
import { type Route, route } from '../platform/http/route.js';

/** The metrics of this process. */
interface MetricsSource {
  /** Prometheus text format. */
  metrics(): Promise<{ text: string; contentType: string }>;
  /** The bearer token to require; undefined if everybody may read the metrics. */
  readonly token: string | undefined;
}

const METRICS = '/metrics';

/**
 * `/metrics`: reveals nothing inside tenancies. Only this spelling is answered: a reverse proxy that hides the path
 * compares it as it is written, so `/METRICS` and `/metrics/` would pass it.
 */
export function metricsRoute(source: MetricsSource): Route {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = source.token === undefined ? undefined : digest(`Bearer ${source.token}`);
  return route({
    method: 'GET',
    path: METRICS,
    operationId: 'Status_Metrics',
    summary: 'Get metrics (Prometheus text format)',
    access: 'public',
    extension: true,
    success: 200,
    codes: [401, 404],
    rawResponse: 'text/plain',
    handle: async ({ headers, request }) => {
      if (writtenPath(request) !== METRICS) throw new ApiError('not_found', 'The metrics are at /metrics.');
      if (expected && !timingSafeEqual(digest(headers['authorization'] ?? ''), expected))
        throw new ApiError('unauthorized', 'Send the METRICS_TOKEN as a bearer token.');
      const { text, contentType } = await source.metrics();
      return { bytes: new TextEncoder().encode(text), contentType };
    },
  });
}

/** The path as the client wrote it, before Express and the usual spelling. */
function writtenPath(request: IncomingMessage & { readonly originalUrl?: string }): string | undefined {
  return request.originalUrl?.split('?', 1)[0];
}
