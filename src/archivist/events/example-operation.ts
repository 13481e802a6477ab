/** Attributes of a completed vCon operation, as shown in the API reference (vCon event template 0.3.0). */
export const EXAMPLE_OPERATION = {
  arc_display_type: 'vcon_created',
  vcon_operation: 'vcon_created',
  subject: 'vcon://01928e10-193e-8231-b9a2-279e0d16bc46',
  payload: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  payload_hash_alg: 'SHA-256',
  payload_preimage_content_type: 'application/vcon+json',
  timestamp_declared: '2026-11-20T10:00:00Z',
} as const;
