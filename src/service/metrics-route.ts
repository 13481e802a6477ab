import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../platform/errors.js';
import { type Route, route } from '../platform/http/route.js';

/** The metrics of this process. */
interface MetricsSource {
  /** Prometheus text format. */
  metrics(): Promise<{ text: string; contentType: string }>;
  /** The bearer token to require; undefined if everybody may read the metrics. */
  readonly token: string | undefined;
}

/** `/metrics`: reveals nothing inside tenancies. */
export function metricsRoute(source: MetricsSource): Route {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = source.token === undefined ? undefined : digest(`Bearer ${source.token}`);
  return route({
    method: 'GET',
    path: '/metrics',
    operationId: 'Status_Metrics',
    summary: 'Get metrics (Prometheus text format)',
    access: 'public',
    extension: true,
    success: 200,
    codes: [401],
    rawResponse: 'text/plain',
    handle: async ({ headers }) => {
      if (expected && !timingSafeEqual(digest(headers['authorization'] ?? ''), expected))
        throw new ApiError('unauthorized', 'Send the METRICS_TOKEN as a bearer token.', {
          'www-authenticate': 'Bearer',
        });
      const { text, contentType } = await source.metrics();
      return { bytes: new TextEncoder().encode(text), contentType };
    },
  });
}
