import { table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertsOf } from '../platform/postgres/insert-rows.js';

/** An identity that brought a private statement which was registered before. */
export interface Registrant {
  readonly tenantId: string;
  /** The event of the first registration. */
  readonly eventId: string;
  readonly issuer: string;
  readonly subject: string;
}

const REGISTRANT = table('registrant').columns<Registrant>({
  tenantId: 'tenant_id',
  eventId: 'event_id',
  issuer: 'issuer',
  subject: 'subject',
});

/** Remembers them; one that is known stays. */
export function addRegistrants(registrants: readonly Registrant[]): Iterable<SqlStatement> {
  return insertsOf(REGISTRANT, registrants, 'ORDER BY tenant_id, event_id, issuer, subject ON CONFLICT DO NOTHING');
}

/** Whether this identity brought the statement of that registration, after its first registrant. */
export async function isRegistrant(tx: Tx, { tenantId, eventId, issuer, subject }: Registrant): Promise<boolean> {
  const rows = await tx.query(
    'SELECT FROM archivist.registrant WHERE tenant_id = $1 AND event_id = $2 AND issuer = $3 AND subject = $4',
    [tenantId, eventId, issuer, subject],
  );
  return rows.length > 0;
}
