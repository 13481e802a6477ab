import type { Fields, Memory } from '../memory/memory.js';
import type { Ended } from './ended.js';
import type { KnownVcon } from './known-vcon.js';
import { type Capturing, seenFields } from './late-capture.js';

/**
 * What the vCon's end will be recorded with. An operation that names no tenancy belongs to the plugin's own, and so does
 * the end.
 */
function newestState({ operation, vcon, method, observed }: Ended, capturing: Capturing) {
  const { tenancy = null } = operation;
  return { payload: vcon.payload, tenancy, ...seenFields({ method, observed }, capturing) };
}

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
    ...(late ? {} : newestState({ operation, vcon, method, observed }, parts.capturing())),
    [seen]: earlier ?? method,
    ...changed,
  });
  if (earlier && earlier !== method) parts.doubled(operation.name);
}
