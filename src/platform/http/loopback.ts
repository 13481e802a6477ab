import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

const NAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i;
const FORWARDED = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip)$/;

/** True for a host name that always means the machine itself. */
export function isLoopbackName(host: string): boolean {
  return NAME.test(host);
}

/** True for a service that only its own machine can reach: nothing forwards to it, and its name is loopback too. */
export function isOnlyLocal(service: {
  readonly host: string;
  readonly publicUrl: string;
  readonly trustProxy: string | number | undefined;
}): boolean {
  const { host, publicUrl, trustProxy } = service;
  return isLoopbackName(host) && isLoopbackName(new URL(publicUrl).hostname) && trustProxy === undefined;
}

/**
 * True for a request that a program on this machine sent to this machine, and that no proxy forwarded: the peer and the
 * name in `Host` are loopback. Other names are refused because any of them may resolve to this machine (DNS rebinding).
 */
export function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  const peer = socket.remoteAddress;
  if (peer === undefined || !ipaddr.isValid(peer) || ipaddr.process(peer).range() !== 'loopback') return false;
  if (Object.keys(headers).some((name) => FORWARDED.test(name))) return false;
  return isLoopbackName((headers.host ?? '').replace(/:\d{1,5}$/, ''));
}
