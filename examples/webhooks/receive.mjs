// Receives webhooks: verifies each request as Standard Webhooks say, ignores repetitions, and prints what it is told.
// Run with Node.js 20 or later: PORT=9000 WEBHOOK_SECRET=whsec_… node receive.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const TOLERANCE_SECONDS = 300;
const LONGEST_BODY = 1024 * 1024;
const key = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');
// A real receiver keeps the ids where they outlive it, in the transaction of what it does with them.
const seen = new Set();

/** Whether the request is from the holder of the secret, and recent. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(' ').some((each) => {
    const given = Buffer.from(each.replace(/^v1,/, ''), 'base64');
    return each.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const server = createServer(async (request, response) => {
  const chunks = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      length += chunk.length;
      if (length > LONGEST_BODY) return void response.writeHead(413).end();
      chunks.push(chunk);
    }
  } catch {
    // The sender has broken off; it sends again.
    return;
  }
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers, body)) return void response.writeHead(401).end();
  const id = request.headers['webhook-id'];
  if (!seen.has(id)) {
    const { type, data } = JSON.parse(body.toString());
    console.log(`${type} ${JSON.stringify(data)}`);
    seen.add(id);
  }
  // Only now: what was not acknowledged is sent again.
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 9000), process.env.HOST ?? '127.0.0.1');
