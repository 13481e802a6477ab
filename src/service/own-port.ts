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
 * Checks that the service's port is free by opening and closing it. The first start checks before it creates anything,
 * because a deployment keeps the URL with its first port in its keys, and a later start on another port would have to
 * warn about it.
 * @throws {Error} naming the variable to change
 */
export async function requireOwnPort(address: Address): Promise<void> {
  const server = createServer();
  const { host, port } = address;
  await onPort(address, once(server.listen(port, host), 'listening'));
  await once(server.close(), 'close');
}
