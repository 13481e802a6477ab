import type { ZodType } from 'zod';
import { assetSchema } from '../archivist/assets/asset.js';
import { blobSchema } from '../archivist/blobs/blob.js';
import { captureReportSchema } from '../archivist/captures/capture-report.js';
import { shownPolicySchema } from '../archivist/compliance/compliance-policy.js';
import { assetEventSchema } from '../archivist/events/asset-event.js';
import { assetFreeEventSchema } from '../archivist/events/asset-free-event.js';
import { foundEventSchema } from '../archivist/events/search-asset-free-events.js';
import { locationSchema } from '../archivist/locations/location.js';
import { shownPrincipalSchema } from '../archivist/principal-record.js';
import { webhookDeliverySchema, webhookSchema } from '../archivist/webhooks/webhook.js';
import { accessPolicySchema } from '../iam/access/access-policy.js';
import { applicationSchema } from '../iam/applications/application.js';
import { inviteSchema } from '../iam/invites/invite.js';
import { memberSchema } from '../iam/members/member.js';
import { subjectSchema } from '../iam/subjects/subject.js';
import { tlsCaCertificateSchema } from '../iam/tls-ca-certificates/tls-ca-certificate.js';
import { trustAnchorSchema } from '../scitt/trust-anchor.js';

/**
 * Names that generated clients give to the response types. `BlobInfo`, because a type with the name of JavaScript's own
 * `Blob` would hide it from the code that sends files.
 */
export const SCHEMA_NAMES: Readonly<Record<string, ZodType>> = {
  AccessPolicy: accessPolicySchema,
  Application: applicationSchema,
  Asset: assetSchema,
  AssetEvent: assetEventSchema,
  AssetFreeEvent: assetFreeEventSchema,
  BlobInfo: blobSchema,
  CaptureReport: captureReportSchema,
  CompliancePolicy: shownPolicySchema,
  FoundEvent: foundEventSchema,
  Invite: inviteSchema,
  Location: locationSchema,
  Member: memberSchema,
  Principal: shownPrincipalSchema,
  Subject: subjectSchema,
  TlsCaCertificate: tlsCaCertificateSchema,
  TrustAnchor: trustAnchorSchema,
  Webhook: webhookSchema,
  WebhookDelivery: webhookDeliverySchema,
};
