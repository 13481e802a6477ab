import type { RegisteredEntry } from '../../ledger/registration-store.js';
import type { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Asset, ProofMechanism } from '../assets/asset.js';
import type { Attributes } from '../attributes.js';
import type { AssetEvent } from '../events/asset-event.js';
import type { AssetFreeEvent } from '../events/asset-free-event.js';
import type { IdempotencyClaim } from '../idempotency/idempotency.js';
import type { PrincipalRecord } from '../principal-record.js';

/** A validated create request that is about to be written. */
export type Submission = {
  readonly principal: Principal;
  readonly idempotency?: IdempotencyClaim | undefined;
} & (
  | {
      readonly kind: 'asset';
      readonly attributes: Attributes;
      readonly behaviours: readonly string[];
      readonly proofMechanism: ProofMechanism;
      readonly public: boolean;
    }
  | {
      readonly kind: 'asset_event';
      readonly assetId: string;
      readonly operation: string;
      readonly behaviour: string;
      readonly eventAttributes: Attributes;
      readonly assetAttributes: Attributes;
      readonly principalDeclared?: PrincipalRecord | undefined;
      readonly timestampDeclared?: string | undefined;
    }
  | {
      readonly kind: 'asset_free_event';
      readonly attributes: Attributes;
      readonly trails: readonly string[];
      readonly eventType: string;
    }
  | {
      readonly kind: 'registration';
      readonly public: boolean;
      readonly eventAttributes: Attributes;
      readonly statement: StatementToRegister;
      /** The caller waits for the receipt. */
      readonly isAwaited?: boolean;
    }
);

/** A statement that passed the registration policy. */
interface StatementToRegister {
  /** Byte for byte as it was received. */
  readonly submitted: Uint8Array;
  /** What the statement log commits to, and its SHA-256. */
  readonly entry: Uint8Array;
  readonly hash: Uint8Array;
  /** The policy's text and its SHA-256. */
  readonly policy: { readonly text: string; readonly digest: Uint8Array };
  readonly keyResolution: Readonly<Record<string, string>>;
}

/**
 * The result of an accepted submission: the new row, or the id of the row that an earlier request with the same key
 * created.
 */
export type Accepted =
  | { readonly kind: 'asset'; readonly asset: Asset }
  | { readonly kind: 'asset_event'; readonly event: AssetEvent }
  | { readonly kind: 'asset_free_event'; readonly event: AssetFreeEvent }
  | { readonly kind: 'registration'; readonly entry: RegisteredEntry }
  | { readonly kind: 'earlier'; readonly id: string };

/** The outcome of one submission: accepted, or refused with the reason. */
export type Outcome = { readonly accepted: Accepted } | { readonly refused: ApiError };

/** The outcome of one submission of a group. `failed` is a fault that the submission did not cause. */
export type Settled = Outcome | { readonly failed: unknown };
