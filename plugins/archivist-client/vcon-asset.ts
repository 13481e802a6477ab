import type { AuthorizedCalls } from './authorized-calls.js';

const PATH = '/archivist/v2/assets';
const DISPLAY_TYPE = 'vcon';
/** Bounds what somebody costs who shares many assets with this subject: then the asset is created instead. */
const MOST_PAGES = 10;

interface FoundAsset {
  readonly identity: string;
  readonly tenant_identity?: string;
  readonly public?: boolean;
}

interface AssetPage {
  readonly assets?: readonly FoundAsset[];
  readonly next_page_token?: string;
}

/**
 * Identity of the newest asset with this subject that is fit for a vCon's events: of the plugin's own tenancy, because
 * others can share theirs and end that; not public, because its events would be; and of the kind that the plugin creates.
 */
export async function findAsset(calls: AuthorizedCalls, subject: string): Promise<string | undefined> {
  const filters = { 'attributes.subject': subject, 'attributes.arc_display_type': DISPLAY_TYPE };
  const query = new URLSearchParams({ ...filters, page_size: '100' });
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await calls.answer<AssetPage>({ what: 'asset look-up', path: `${PATH}?${query}` });
    const own = await calls.tenancy();
    const fit = page.assets?.find((asset) => asset.tenant_identity === own && asset.public !== true);
    if (fit && own !== undefined) return fit.identity;
    if (!page.next_page_token) return undefined;
    query.set('page_token', page.next_page_token);
  }
  return undefined;
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
