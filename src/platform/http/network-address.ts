import ipaddr from 'ipaddr.js';

/**
 * For an IPv6 address its /64 network, because one caller usually has all of it. For an IPv4 address, also one inside
 * IPv6, the address itself.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}
