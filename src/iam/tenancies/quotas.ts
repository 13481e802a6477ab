/** What a tenancy has a limit for: bytes for `blob_bytes`, a count for the others. */
export const QUOTA_NAMES = [
  'applications',
  'tls_ca_certificates',
  'access_policies',
  'compliance_policies',
  'locations',
  'assets',
  'events',
  'asset_free_events',
  'blobs',
  'blob_bytes',
] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

/** The limit of each for a tenancy; a name that is missing has no limit. */
export type Quotas = Readonly<Partial<Record<QuotaName, number>>>;

/** What users can delete has a limit far above what people set up by hand; what grows with use has no limit. */
export const DEFAULT_QUOTAS: Quotas = {
  applications: 1_000,
  tls_ca_certificates: 1_000,
  access_policies: 1_000,
  compliance_policies: 1_000,
  locations: 100_000,
};

/**
 * Parses `name=number` or `name=unlimited`, separated by commas, over the defaults; undefined when it cannot be parsed.
 */
export function parseQuotas(text: string): Quotas | undefined {
  const quotas: Partial<Record<QuotaName, number>> = { ...DEFAULT_QUOTAS };
  for (const part of text.split(',')) {
    const [, name, limit] = /^\s*(\w+)\s*=\s*(\d{1,15}|unlimited)\s*$/.exec(part) ?? [];
    const known = QUOTA_NAMES.find((each) => each === name);
    if (known === undefined) return undefined;
    if (limit === 'unlimited') delete quotas[known];
    else quotas[known] = Number(limit);
  }
  return quotas;
}
