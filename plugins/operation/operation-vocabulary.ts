const PREFIX = 'vcon_';

/** Other words for operations that the vCon lifecycle draft (draft-howe-vcon-lifecycle) has a name for. */
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

/** What the lifecycle draft names, and what the plugin records of itself. */
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

/** Whether a name is in the draft's vocabulary or ours. Any other is somebody's own, and is recorded as such. */
export function isListed(name: string): boolean {
  return LISTED.has(name);
}

/** The name of an operation with its prefix and without hyphens: what it was reported as. */
export function reportedName(text: string): string {
  const name = text.toLowerCase().replaceAll('-', '_');
  return name.startsWith(PREFIX) ? name : PREFIX + name;
}

/** The lifecycle draft's word for a reported operation; any other name stands as it is. */
export function vocabularyName(reported: string): string {
  return SAME_AS[reported] ?? reported;
}
