/** What a tenancy can have only so much of. Bytes for `blob_bytes`, a number of things for the others. */
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

/** The most of each that a tenancy may have; a name that is missing has no limit. */
export type Quotas = Readonly<Partial<Record<QuotaName, number>>>;

/** What is deleted again has a limit far above what people set up by hand; what grows with the work has none. */
export const DEFAULT_QUOTAS: Quotas = {
  applications: 1_000,
  tls_ca_certificates: 1_000,
  access_policies: 1_000,
  compliance_policies: 1_000,
  locations: 100_000,
};

/** `name=number` or `name=unlimited`, separated by commas, over the defaults; undefined when it cannot be read. */
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
