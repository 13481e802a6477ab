import { once } from 'node:events';
import { createServer } from 'node:net';
import { explainedPort } from '../platform/explain-failure.js';
import type { HttpConfig } from './config/http-config.js';

type Address = Pick<HttpConfig, 'host' | 'port'>;

/** Names the variable to change if the service's port cannot be used. */
export function onPort<T>({ host, port }: Address, listening: Promise<T>): Promise<T> {
  return explainedPort('PORT', `PORT ${port} of HOST ${host} cannot be used`, listening);
}

/**
 * Takes the service's port and gives it back. A first start asks before it makes anything: a deployment keeps the name of
 * its first port in its keys, and the next start, on another port, would have to warn of it.
 * @throws {Error} naming the variable to change
 */
export async function requireOwnPort(address: Address): Promise<void> {
  const server = createServer();
  const { host, port } = address;
  await onPort(address, once(server.listen(port, host), 'listening'));
  await once(server.close(), 'close');
}
