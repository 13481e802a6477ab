import ipaddr from 'ipaddr.js';

const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/;

/** The address alone: some proxies write `X-Forwarded-For` with ports, and IPv6 addresses in brackets. */
export function withoutPort(address: string): string {
  const [, inBrackets, beforePort] = WITH_PORT.exec(address) ?? [];
  return inBrackets ?? beforePort ?? address;
}

/**
 * The network of the first of these addresses that can be read: for an IPv6 address its /64 network, because one caller
 * usually has all of it; for an IPv4 address, also one inside IPv6, the address itself. `unknown` if none can be read.
 */
export function networkOf(...addresses: readonly (string | undefined)[]): string {
  const address = addresses.map((each) => withoutPort(each ?? '')).find((each) => ipaddr.isValid(each));
  if (address === undefined) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}
