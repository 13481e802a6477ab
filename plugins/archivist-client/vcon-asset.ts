import type { AuthorizedCalls } from './authorized-calls.js';

const PATH = '/archivist/v2/assets';
const DISPLAY_TYPE = 'vcon';

/** Identity of the asset with this subject, if there is one that this client can see. */
export async function findAsset(calls: AuthorizedCalls, subject: string): Promise<string | undefined> {
  const query = new URLSearchParams({ 'attributes.subject': subject, page_size: '1' });
  const { assets } = await calls.answer<{ assets?: { identity: string }[] }>({
    what: 'asset look-up',
    path: `${PATH}?${query}`,
  });
  return assets?.[0]?.identity;
}

/** Creates the asset of a subject: one for each subject, because the subject is its idempotency key. */
export function createAsset(calls: AuthorizedCalls, subject: string): Promise<string> {
  return calls.create({
    what: 'asset',
    path: PATH,
    idempotencyKey: `asset:${subject}`,
    body: {
      behaviours: ['RecordEvidence'],
      attributes: { arc_display_type: DISPLAY_TYPE, arc_display_name: subject, subject },
      public: false,
    },
  });
}
