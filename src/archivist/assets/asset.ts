import { z } from 'zod';
import { plainText } from '../../platform/plain-text.js';
import { timestampSchema } from '../../platform/timestamps.js';
import { type Attributes, attributesSchema, sentAttributesSchema } from '../attributes.js';
import { type ConfirmationStatus, confirmationStatusSchema } from '../confirmation.js';

/** One asset in one tenancy; a public asset has a second row under the public tenancy. */
export interface Asset {
  readonly tenantId: string;
  readonly assetId: string;
  readonly originTenantId: string;
  readonly newAssetEventId: string;
  readonly attributes: Attributes;
  readonly behaviours: readonly string[];
  readonly proofMechanism: ProofMechanism;
  readonly public: boolean;
  readonly tracked: boolean;
  readonly owner: string;
  readonly creatorIssuer: string;
  readonly creatorSubject: string;
  readonly createdAt: Date;
}

export type ProofMechanism = 'MERKLE_LOG' | 'SIMPLE_HASH';

/** The form of an asset, and of its events, that is shown. */
export type AssetForm = 'assets' | 'publicassets';

/** The chain id in every asset: the letters VCON read as a number. It never changes and callers cannot set it. */
export const CHAIN_ID = String(0x56434f4e);

/** Body of `POST /archivist/v2/assets`. Attributes are checked by `readAttributes`. */
export const createAssetSchema = z.object({
  attributes: sentAttributesSchema.nullish(),
  behaviours: z.array(plainText(1024)).max(64).nullish(),
  chain_id: plainText(1024).nullish(),
  // Clients with typed records send every member, and "" for one that is not set.
  proof_mechanism: z.preprocess(
    (value) => (value === '' ? null : value),
    z.enum(['PROOF_MECHANISM_UNSPECIFIED', 'MERKLE_LOG', 'SIMPLE_HASH']).nullish(),
  ),
  public: z.boolean().nullish(),
});
export type CreateAssetBody = z.infer<typeof createAssetSchema>;

/** An asset in a response. */
export const assetSchema = z.strictObject({
  identity: z.string(),
  behaviours: z.array(z.string()),
  attributes: attributesSchema,
  confirmation_status: confirmationStatusSchema,
  tracked: z.enum(['TRACKED', 'NOT_TRACKED']),
  owner: z.string(),
  at_time: timestampSchema,
  storage_integrity: z.literal('TENANT_STORAGE'),
  proof_mechanism: z.enum(['MERKLE_LOG', 'SIMPLE_HASH']),
  chain_id: z.string(),
  public: z.boolean(),
  tenant_identity: z.string(),
});

/** `assets/<uuid>`, or `publicassets/<uuid>` for the public form. */
function assetIdentity(asset: { assetId: string }, form: AssetForm = 'assets'): string {
  return `${form}/${asset.assetId}`;
}

/** An asset as the interface shows it. `atTime` is the time that the data is from. */
export function assetResponse(
  asset: Asset,
  shown: { status: ConfirmationStatus; atTime: string; form?: AssetForm },
): Record<string, unknown> {
  return {
    identity: assetIdentity(asset, shown.form),
    behaviours: asset.behaviours,
    attributes: asset.attributes,
    confirmation_status: shown.status,
    tracked: asset.tracked ? 'TRACKED' : 'NOT_TRACKED',
    owner: asset.owner,
    at_time: shown.atTime,
    storage_integrity: 'TENANT_STORAGE',
    proof_mechanism: asset.proofMechanism,
    chain_id: CHAIN_ID,
    public: asset.public,
    tenant_identity: `tenant/${asset.originTenantId}`,
  };
}
