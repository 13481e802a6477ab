import { isTemplate } from '../../core/statement/vcon-template.js';
import { assetView } from '../../iam/access/asset-view.js';
import type { Grant } from '../../iam/access/grant.js';
import { OWNER_ROLE } from '../../iam/access/owner-and-creator.js';
import { permits } from '../../iam/access/permits.js';
import type { IntakeRow } from '../../ledger/intake-store.js';
import type { PolicyRow, Registration } from '../../ledger/registration-store.js';
import type { StoredStatement } from '../../ledger/statement-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { timestampOf } from '../../platform/timestamps.js';
import type { Asset } from '../assets/asset.js';
import type { AssetChange } from '../assets/asset-store.js';
import type { SimpleHashEvent } from '../chain/anchor-store.js';
import type { Deployment } from '../deployment.js';
import { type AssetEvent, publicFormOf } from '../events/asset-event.js';
import type { AssetFreeEvent } from '../events/asset-free-event.js';
import { principalRecord } from '../principal-record.js';
import type { StatementAsset, StatementAssetRef } from '../registrations/statement-asset-store.js';
import { checkAttachments, type FindBlob } from './check-attachments.js';
import { assetEventIntake, assetFreeEventIntake } from './event-intake.js';
import type { EventPlace } from './statement-assets-for-batch.js';
import type { Accepted, Submission } from './submission.js';

/** Every row that one submission writes: all of them or none. */
export interface Plan {
  readonly accepted: Accepted;
  /** Id of the created resource: the answer to a repeated request. */
  readonly id: string;
  readonly assets: readonly Asset[];
  readonly assetEvents: readonly AssetEvent[];
  readonly assetFreeEvents: readonly AssetFreeEvent[];
  readonly changes: readonly AssetChange[];
  readonly intake: readonly IntakeRow[];
  readonly simpleHashEvents: readonly SimpleHashEvent[];
  /** Present when the event is made from a registered statement. */
  readonly registration?:
    | {
        readonly row: Registration;
        readonly statement: StoredStatement;
        readonly policy: PolicyRow;
        /** The caller waits for the receipt. */
        readonly isAwaited: boolean;
      }
    | undefined;
}

/** What planning may read. */
export interface PlanContext extends BatchContext {
  /** The asset under which a tenancy's registered statements are events. */
  statementAsset(ref: StatementAssetRef): EventPlace;
}

/** The values that are the same for every submission of a batch. */
export interface BatchContext {
  readonly deployment: Deployment;
  readonly nowMs: number;
  uuid(): string;
  /** The id of an event that a caller records on this asset. */
  eventId(asset: EventPlace): string;
  /** The tenancy's wallet address: owner of its assets, `from` of its events. */
  wallet(tenantId: string): string;
  /** An asset of the tenancy, among those that were looked up for this batch. */
  asset(tenantId: string, assetId: string): Asset | undefined;
  readonly blob: FindBlob;
  /** What policies grant to a principal that records in this batch; empty for one that needs no grant. */
  grants(principal: Principal): readonly Grant[];
}

type Of<Kind extends Submission['kind']> = Extract<Submission, { kind: Kind }>;

/**
 * Decides which rows a submission writes.
 * @throws {ApiError} not_found for an asset that the principal cannot see; forbidden for what it may not do;
 *   bad_request for an attachment that does not match its blob, or a document that is not public
 */
export function plan(submission: Submission, context: PlanContext): Plan {
  const planned = planOf(submission, context);
  checkAttachments(submission, context.blob);
  return planned;
}

function planOf(submission: Submission, context: PlanContext): Plan {
  switch (submission.kind) {
    case 'asset':
      return planAsset(submission, context);
    case 'asset_event':
      return planAssetEvent(submission, context);
    case 'asset_free_event':
      return planAssetFreeEvent(submission, context);
    case 'registration':
      return planRegistration(submission, context);
  }
}

function planAsset(submission: Of<'asset'>, context: BatchContext, assetId = context.uuid()): Plan {
  const { principal } = submission;
  const { tenantId } = principal;
  if (!permits(principal, 'create', { kind: 'assets', tenantId })) throw forbidden();
  const asset: Asset = {
    tenantId,
    assetId,
    originTenantId: tenantId,
    newAssetEventId: context.uuid(),
    attributes: submission.attributes,
    behaviours: [...new Set([...submission.behaviours, 'AssetCreator', 'Builtin'])],
    proofMechanism: submission.proofMechanism,
    public: submission.public,
    tracked: true,
    owner: context.wallet(tenantId),
    creatorIssuer: principal.issuer,
    creatorSubject: principal.subject,
    createdAt: new Date(context.nowMs),
  };
  const event = acceptedEvent(asset, submission, context, {
    eventId: asset.newAssetEventId,
    operation: 'NewAsset',
    behaviour: 'AssetCreator',
    eventAttributes: {},
    assetAttributes: submission.attributes,
  });
  const publicAsset = { ...asset, tenantId: context.deployment.publicTenancy, creatorIssuer: '', creatorSubject: '' };
  return {
    ...planOfEvent(asset, event, context),
    accepted: { kind: 'asset', asset },
    id: asset.assetId,
    assets: asset.public ? [asset, publicAsset] : [asset],
    changes: [],
  };
}

function planAssetEvent(submission: Of<'asset_event'>, context: PlanContext): Plan {
  const { principal } = submission;
  const asset = context.asset(principal.tenantId, submission.assetId);
  const view = asset && assetView(principal, asset, context.grants(principal));
  if (!view || !(view.visible || view.records)) throw new ApiError('not_found', 'There is no such asset.');
  const refusal = view.refusal(submission);
  if (refusal !== undefined) throw new ApiError('forbidden', refusal);
  const event = acceptedEvent(asset, submission, context, {
    eventId: context.eventId(asset),
    operation: submission.operation,
    behaviour: submission.behaviour,
    eventAttributes: submission.eventAttributes,
    assetAttributes: submission.assetAttributes,
  });
  return planOfEvent(asset, event, context);
}

/** The creator of assets for statements. No token has an empty issuer, so no caller can pass for it. */
const INTERNAL = {
  issuer: '',
  subject: 'Archivist Internal',
  displayName: 'Archivist Internal',
  email: '',
  claims: {},
};

/** Plans the asset for a tenancy's registered statements. */
export function planStatementAsset(asset: StatementAsset, context: BatchContext): Plan & { asset: Asset } {
  const submission = {
    kind: 'asset',
    principal: { ...INTERNAL, tenantId: asset.tenantId, roles: [OWNER_ROLE] },
    attributes: {
      arc_display_name: 'Registered statements',
      arc_display_type: 'signed_statements',
      arc_description: 'Each event is a signed statement that was registered; it is in the attribute signed_statement.',
    },
    behaviours: ['RecordEvidence'],
    proofMechanism: 'MERKLE_LOG',
    public: asset.public,
  } as const;
  const planned = planAsset(submission, context, asset.assetId);
  return { ...planned, asset: planned.assets[0]! };
}

function planRegistration(submission: Of<'registration'>, context: PlanContext): Plan {
  const { principal, statement } = submission;
  if (!permits(principal, 'create', { kind: 'assets', tenantId: principal.tenantId })) throw forbidden();
  // A tenancy that does not exist has no wallet and no asset for statements.
  context.wallet(principal.tenantId);
  const asset = context.statementAsset({ tenantId: principal.tenantId, public: submission.public });
  const event = acceptedEvent(asset, submission, context, {
    eventId: context.uuid(),
    operation: 'Record',
    behaviour: 'RecordEvidence',
    eventAttributes: submission.eventAttributes,
    assetAttributes: {},
  });
  const tenantId = submission.public ? context.deployment.publicTenancy : principal.tenantId;
  const row: Registration = {
    tenantId,
    statementHash: statement.hash,
    eventId: event.eventId,
    assetId: asset.assetId,
    submitted: statement.submitted,
    creatorIssuer: principal.issuer,
    creatorSubject: principal.subject,
    policyDigest: statement.policy.digest,
    keyResolution: statement.keyResolution,
    registeredAt: new Date(context.nowMs),
  };
  return planOfEvent(asset, event, context, {
    accepted: { kind: 'registration', entry: { assetId: asset.assetId, eventId: event.eventId } },
    registration: {
      row,
      statement: { tenantId, eventId: event.eventId, entry: statement.entry },
      policy: { tenantId, ...statement.policy },
      isAwaited: submission.isAwaited === true,
    },
  });
}

/** @param registered given when the event is made from a registered statement, which is not signed again */
function planOfEvent(
  asset: EventPlace,
  event: AssetEvent,
  context: BatchContext,
  registered?: Pick<Plan, 'accepted' | 'registration'>,
): Plan {
  const { deployment } = context;
  const { publicTenancy: tenantId } = deployment;
  const change = changeOf(event);
  const assetEvents = asset.public ? [event, publicFormOf(event, tenantId)] : [event];
  return {
    accepted: registered?.accepted ?? { kind: 'asset_event', event },
    id: event.eventId,
    assets: [],
    assetEvents,
    assetFreeEvents: [],
    changes: change && asset.public ? [change, { ...change, tenantId }] : change ? [change] : [],
    intake: assetEventIntake(asset, event, deployment, registered !== undefined || isTemplate(event.eventAttributes)),
    simpleHashEvents: asset.proofMechanism === 'SIMPLE_HASH' ? assetEvents : [],
    registration: registered?.registration,
  };
}

function changeOf(event: AssetEvent): AssetChange | undefined {
  const tracked = { StartTracking: true, StopTracking: false }[event.operation];
  if (tracked === undefined && Object.keys(event.assetAttributes).length === 0) return undefined;
  const { tenantId, assetId, assetAttributes: attributes } = event;
  return { tenantId, assetId, attributes, ...(tracked === undefined ? {} : { tracked }) };
}

function acceptedEvent(
  asset: EventPlace,
  submission: Submission,
  context: BatchContext,
  content: Pick<AssetEvent, 'eventId' | 'operation' | 'behaviour' | 'eventAttributes' | 'assetAttributes'>,
): AssetEvent {
  const accepted = principalRecord(submission.principal);
  const timestampAccepted = timestampOf(context.nowMs);
  const declared = submission.kind === 'asset_event' ? submission : undefined;
  return {
    tenantId: asset.tenantId,
    eventId: content.eventId,
    assetId: asset.assetId,
    originTenantId: asset.originTenantId,
    operation: content.operation,
    behaviour: content.behaviour,
    eventAttributes: content.eventAttributes,
    assetAttributes: content.assetAttributes,
    principalDeclared: declared?.principalDeclared ?? accepted,
    principalAccepted: accepted,
    timestampDeclared: declared?.timestampDeclared ?? timestampAccepted,
    timestampAccepted,
    acceptedAt: new Date(context.nowMs),
    fromAddress: context.wallet(submission.principal.tenantId),
  };
}

function planAssetFreeEvent(submission: Of<'asset_free_event'>, context: PlanContext): Plan {
  const { principal } = submission;
  const { tenantId } = principal;
  if (!permits(principal, 'create', { kind: 'asset_free_events', tenantId })) throw forbidden();
  const event: AssetFreeEvent = {
    tenantId,
    eventId: context.uuid(),
    attributes: submission.attributes,
    trails: submission.trails,
    eventType: submission.eventType,
    creatorIssuer: principal.issuer,
    createdBy: principal.subject,
    createdAtMs: BigInt(context.nowMs),
  };
  return {
    accepted: { kind: 'asset_free_event', event },
    id: event.eventId,
    assets: [],
    assetEvents: [],
    assetFreeEvents: [event],
    changes: [],
    intake: assetFreeEventIntake(event, context.deployment),
    simpleHashEvents: [],
  };
}

function forbidden(): ApiError {
  return new ApiError('forbidden', 'This identity may not do that.');
}
