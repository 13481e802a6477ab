import type { Fields, Memory } from '../memory/memory.js';
import type { Ended } from './ended.js';
import type { KnownVcon } from './known-vcon.js';
import { type Capturing, seenFields } from './late-capture.js';

/**
 * Remembers a captured operation: it is the vCon's last state unless it is late, and a second method that captures it on
 * the same bytes doubles it. If it rejects, it can be repeated.
 * @param changed further fields of the vCon
 * @throws what the memory throws
 */
export async function rememberCapture(
  parts: { readonly memory: Memory; capturing(): Capturing; doubled(operation: string): void },
  { operation, vcon, method, observed }: Ended,
  { uuid, fields, history, late }: KnownVcon,
  changed: Fields,
): Promise<void> {
  const { memory } = parts;
  const seen = `op:${operation.name}:${vcon.payload}`;
  const earlier = fields[seen];
  if (earlier && earlier !== method) {
    const methods = [earlier, method].sort().join(' and ');
    await memory.write('doubles', operation.name, { [methods]: new Date(observed.atMs).toISOString() });
  }
  await memory.write('vcons', uuid, {
    ...(history ? { history } : {}),
    ...(late ? {} : { payload: vcon.payload, ...seenFields({ method, observed }, parts.capturing()) }),
    [seen]: earlier ?? method,
    ...changed,
    ...(operation.tenancy ? { tenancy: operation.tenancy } : {}),
  });
  if (earlier && earlier !== method) parts.doubled(operation.name);
}
