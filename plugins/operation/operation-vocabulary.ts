const PREFIX = 'vcon_';

/** Synonyms of operations that the vCon lifecycle draft (draft-howe-vcon-lifecycle) names. */
const SAME_AS: Readonly<Record<string, string>> = {
  vcon_create: 'vcon_created',
  vcon_enhance: 'vcon_enhanced',
  vcon_transcribed: 'vcon_enhanced',
  vcon_analysed: 'vcon_enhanced',
  vcon_analyzed: 'vcon_enhanced',
  vcon_summarised: 'vcon_enhanced',
  vcon_summarized: 'vcon_enhanced',
  vcon_tagged: 'vcon_enhanced',
  vcon_amended: 'vcon_enhanced',
  vcon_redacted: 'vcon_party_redacted',
  vcon_consent_given: 'vcon_consent_accepted',
};

/** The lifecycle draft's names, and those of the plugin's own records. */
const LISTED: ReadonlySet<string> = new Set([
  'vcon_created',
  'vcon_enhanced',
  'vcon_sent',
  'vcon_received',
  'vcon_consent_accepted',
  'vcon_consent_revoked',
  'vcon_party_redacted',
  'vcon_deleted',
  'vcon_expired',
  'vcon_rcvr_purged',
  'vcon_deletion_incomplete',
  'vcon_capture_gap',
  'vcon_capture_dropped',
]);

/** True if a name is in the draft's vocabulary or ours. Any other is a custom name, and is recorded as such. */
export function isListed(name: string): boolean {
  return LISTED.has(name);
}

/** The name of an operation as reported, with its prefix and without hyphens. */
export function reportedName(text: string): string {
  const name = text.toLowerCase().replaceAll('-', '_');
  return name.startsWith(PREFIX) ? name : PREFIX + name;
}

/** The lifecycle draft's term for a reported operation; other names are unchanged. */
export function vocabularyName(reported: string): string {
  return SAME_AS[reported] ?? reported;
}
