/** Messages to the engine: the cluster to open comes first, then whole queries of the protocol. */
export type ToEngine = { readonly cluster: string } | Uint8Array | 'close';

/** What it tells: one answer to each message, in their order, unless it died. */
export type FromEngine =
  | 'opened'
  | Uint8Array
  | 'closed'
  | { readonly failed: string; readonly code: string | undefined }
  | { readonly died: string };
