import type { Config } from '../service/config/config.js';

/**
 * Returns the base URL of the service that a command talks to, without a slash at its end: `ARCHIVIST_URL` if it is set,
 * else `PUBLIC_URL`, else `http://127.0.0.1:<PORT>`. Operator commands use `--url` or `PUBLIC_URL` instead: they must not
 * send the operator's token to the service of another deployment that `ARCHIVIST_URL` may name.
 */
export function serviceUrl({ plugin, publicUrl }: Config): string {
  return (plugin.archivistUrl ?? publicUrl).replace(/\/archivist$/, '');
}
