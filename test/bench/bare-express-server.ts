import type { AddressInfo } from 'node:net';
import express from 'express';

// Parses a body as JSON and answers what the service would answer: what a post costs on this stack at the least.
const answer = JSON.parse(process.env['BENCH_SAMPLE_ANSWER'] ?? '{}') as Record<string, unknown>;
const app = express();
app.use(express.json());
app.post('/archivist/v2/assets/:uuid/events', (request, response) => {
  const body = request.body as Record<string, unknown>;
  response.json({ ...answer, event_attributes: body['event_attributes'] });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port} \n`);
});
