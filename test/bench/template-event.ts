import { randomBytes, randomUUID } from 'node:crypto';

/** Attributes of one vCon operation as our own plugin writes them. */
export function templateAttributes(subject: string): Record<string, string> {
  return {
    arc_display_type: 'vcon_transcribed',
    conserver_link: 'deepgram_link',
    conserver_link_name: 'transcribe_recording',
    conserver_link_version: '0.3.0',
    payload: randomBytes(32).toString('hex'),
    payload_hash_alg: 'SHA-256',
    payload_preimage_content_type: 'application/vcon+json',
    payload_jcs_sha256: randomBytes(32).toString('hex'),
    payload_location: `https://conserver.example/vcons/${subject.slice('vcon://'.length)}`,
    subject,
    timestamp_declared: '2026-11-20T10:00:00.123Z',
    vcon_operation: 'vcon_transcribed',
    vcon_draft_version: '01',
    vcon_chain: 'inbound_support_calls',
    vcon_operation_result: 'added analysis[0]: transcript of dialog[0], 14 turns, 2 speakers, en-US',
    scitt_draft_version: '10',
  };
}

/** The body of a create request for one event of a vCon: 0.9 KB, the same length every time. */
export function templateEventBody(subject: string): string {
  return JSON.stringify({
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: templateAttributes(subject),
  });
}

export function newSubject(): string {
  return `vcon://${randomUUID()}`;
}
