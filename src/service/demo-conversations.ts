/** One completed operation of the demo, and the document that a conserver would post for it. */
interface DemoOperation {
  readonly operation: string;
  readonly link: string;
  /** Name of the file that the demo leaves for the reader. */
  readonly file: string;
  readonly vcon: Readonly<Record<string, unknown>>;
}

const CALL = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9fd1';
const REDACTED = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9fd2';
const CHAT = '019a9f31-7be2-8d5e-9c47-0a1b2c3d4ed3';

const call = {
  uuid: CALL,
  vcon: '0.4.0',
  created_at: '2026-11-18T09:12:44+00:00',
  subject: 'Delivery of order 48213',
  parties: [
    { name: 'Ana Okafor', role: 'customer' },
    { name: 'Jonas Lind', role: 'agent' },
  ],
  dialog: [
    {
      type: 'recording',
      start: '2026-11-18T09:12:44+00:00',
      duration: 312.48,
      parties: [0, 1],
      mediatype: 'audio/x-wav',
      url: 'https://recordings.example/2026/11/18/019a9f20-4d10.wav',
      content_hash: 'sha512-N0aE3yNfQm4bGq3n9r8Yw2sD5kq1xV7tZ4uJcB6hLgP0iRzXoT8eWvKdSmFaHyUj2lCnQbMpGxE5w1f7r3sDqA',
    },
  ],
  analysis: [],
  attachments: [],
};

const consent = {
  ...call,
  updated_at: '2026-11-18T09:13:10+00:00',
  attachments: [
    {
      purpose: 'lawful_basis',
      start: '2026-11-18T09:12:40+00:00',
      party: 0,
      dialog: 0,
      encoding: 'json',
      body: '{"lawful_basis": "consent", "expiration": "2027-11-18T00:00:00Z", "purpose_grants": [{"purpose": "recording", "granted": true, "granted_at": "2026-11-18T09:12:40Z"}]}',
    },
  ],
};

const transcribed = {
  ...consent,
  updated_at: '2026-11-18T09:20:02+00:00',
  analysis: [
    {
      type: 'transcript',
      dialog: 0,
      vendor: 'scribe',
      encoding: 'none',
      mediatype: 'text/plain',
      body: 'Good morning, this is Jonas at the delivery desk. How can I help?',
    },
  ],
};

const redacted = {
  ...transcribed,
  uuid: REDACTED,
  created_at: '2026-11-18T10:02:00+00:00',
  updated_at: '2026-11-18T10:02:00+00:00',
  redacted: { uuid: CALL, type: 'party' },
  parties: [{ role: 'customer' }, { name: 'Jonas Lind', role: 'agent' }],
};

const chat = {
  uuid: CHAT,
  vcon: '0.4.0',
  created_at: '2026-11-19T14:02:10+00:00',
  subject: 'مرحبا: opening hours',
  parties: [
    { name: 'مريم', role: 'customer' },
    { name: 'Desk 7', role: 'agent' },
  ],
  dialog: [
    { type: 'text', start: '2026-11-19T14:02:10+00:00', parties: [0], mediatype: 'text/plain', body: 'Open today?' },
  ],
  analysis: [],
  attachments: [],
};

/** Two conversations: a call that is transcribed, redacted and sent on, and a chat that is deleted. */
export const DEMO_OPERATIONS: readonly DemoOperation[] = [
  { operation: 'vcon_created', link: 'intake', file: 'call', vcon: call },
  { operation: 'vcon_enhanced', link: 'consent_desk', file: 'call-with-consent', vcon: consent },
  { operation: 'vcon_enhanced', link: 'transcribe', file: 'call-transcribed', vcon: transcribed },
  { operation: 'vcon_party_redacted', link: 'redact', file: 'call-redacted', vcon: redacted },
  { operation: 'vcon_sent', link: 'partner_acme', file: 'call-redacted', vcon: redacted },
  { operation: 'vcon_created', link: 'intake', file: 'chat', vcon: chat },
  { operation: 'vcon_deleted', link: 'retention', file: 'chat', vcon: chat },
];
