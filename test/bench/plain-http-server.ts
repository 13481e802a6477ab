import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Reads a body and says that it has: what a post costs whose receiver does nothing.
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(202, { 'content-length': 2 }).end('{}'));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port} \n`);
});
