/** The queue of events whose receipts have not been fetched. */
export const RECEIPT_QUEUE = 'conserver-receipts';

/** A delivered event, and what its receipt must be about. */
export interface ReceiptJob {
  /** Identity of the event at the service. */
  readonly event: string;
  /** `vcon://<uuid>` */
  readonly subject: string;
  /** Hex SHA-256 of the vCon's bytes. */
  readonly payload: string;
  readonly tenancy?: string;
}

/** The receipt of an operation, as stored under its vCon and hash by the id of its job. */
export interface KeptReceipt {
  readonly event: string;
  readonly operation: string;
  /** Base64 of the transparent statement: statement, receipts and event, verifiable offline. */
  readonly statement: string;
  /** RFC 3339. */
  readonly verifiedAt: string;
}

/** The name in memory of the receipts of one state of a vCon. */
export function receiptName({ subject, payload }: Pick<ReceiptJob, 'subject' | 'payload'>): string {
  return `${subject.slice('vcon://'.length)}.${payload}`;
}
