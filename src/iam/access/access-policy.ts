import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parsePolicyFilter } from '../../filter/attribute-filter.js';
import { plainText } from '../../platform/plain-text.js';
import { refuseUnreadable } from '../../platform/refuse-unreadable.js';
import { readSubject, readUserAttribute } from './principal-key.js';

const MAX_ENTRY = 8192;
const MAX_ALTERNATIVES = 128;
const MAX_PERMISSIONS = 64;
const MAX_NAMES = 256;

const alternatives = z
  .array(z.object({ or: z.array(plainText(MAX_ENTRY)).min(1).max(MAX_ALTERNATIVES) }))
  .max(MAX_ALTERNATIVES);
const filters = alternatives.superRefine((given, context) =>
  refuseUnreadable(context, () => parsePolicyFilter(given, POLICY_FILTER)),
);
/** Attributes, kinds of events or behaviours by name; `*` stands for all of them. */
const names = list(z.array(plainText(1024).min(1)).max(MAX_NAMES));

/**
 * One permission (docs/design/interface.md#access-policies): for whom, and what they may do with the matching assets. A
 * permission that is not listed is denied.
 */
const permissionSchema = z.object({
  subjects: list(
    z
      .array(plainText(128))
      .max(MAX_NAMES)
      .superRefine((given, context) => refuseEach(context, given, readSubject)),
  ),
  behaviours: names,
  include_attributes: names,
  user_attributes: list(
    alternatives.superRefine((given, context) =>
      given.forEach(({ or }, place) => {
        refuseEach(context, or, readUserAttribute, [place, 'or']);
      }),
    ),
  ),
  asset_attributes_read: names,
  asset_attributes_write: names,
  event_arc_display_type_read: names,
  event_arc_display_type_write: names,
});
export type AccessPermission = z.output<typeof permissionSchema>;

const fields = {
  display_name: plainText(128).min(1),
  description: plainText(4096),
  filters,
  access_permissions: z.array(permissionSchema).max(MAX_PERMISSIONS),
};

/** Body of `POST …/access_policies`. */
export const createAccessPolicySchema = z.object({
  ...fields,
  description: fields.description.nullish().transform((text) => text ?? ''),
});

/** Body of `PATCH …/access_policies/{uuid}`: missing members stay unchanged. The original lets a name grow here only. */
export const changeAccessPolicySchema = z.object({
  display_name: plainText(1024).min(1).nullish(),
  description: fields.description.nullish(),
  filters: fields.filters.nullish(),
  access_permissions: fields.access_permissions.nullish(),
});

/** The content of a policy. */
export type PolicyContent = z.output<typeof createAccessPolicySchema>;

/** A policy of a tenancy. */
export interface AccessPolicy extends PolicyContent {
  readonly tenantId: string;
  readonly policyId: string;
  /** Number of its changes, starting at 1. */
  readonly version: bigint;
  readonly createdAt: Date;
}

/** How the entries of a policy's filters are written. */
export const POLICY_FILTER = { field: '', prefix: 'attributes.' } as const;

/** A policy in a response. */
export const accessPolicySchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  description: z.string(),
  filters: z.array(z.strictObject({ or: z.array(z.string()) })),
  access_permissions: z.array(
    z.strictObject({
      subjects: z.array(z.string()),
      behaviours: z.array(z.string()),
      include_attributes: z.array(z.string()),
      user_attributes: z.array(z.strictObject({ or: z.array(z.string()) })),
      asset_attributes_read: z.array(z.string()),
      asset_attributes_write: z.array(z.string()),
      event_arc_display_type_read: z.array(z.string()),
      event_arc_display_type_write: z.array(z.string()),
    }),
  ),
  tenant: z.string(),
});

export function accessPolicyIdentity(policy: { readonly policyId: string }): string {
  return `access_policies/${policy.policyId}`;
}

/** A policy in the form of the interface, with every field filled in. */
export function accessPolicyResponse(policy: AccessPolicy): Record<string, unknown> {
  const { display_name, description, filters, access_permissions } = policy;
  return {
    identity: accessPolicyIdentity(policy),
    display_name,
    description,
    filters,
    access_permissions,
    tenant: `tenant/${policy.tenantId}`,
  };
}

/** SHA-256 in hex of the policy in the form of the interface, as JSON with its members sorted by name. */
export function accessPolicyDigest(policy: AccessPolicy): string {
  return createHash('sha256')
    .update(sortedJson(accessPolicyResponse(policy)))
    .digest('hex');
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

function list<Member>(schema: z.ZodType<Member[]>) {
  return schema.nullish().transform((members) => members ?? []);
}

function refuseEach(
  context: z.RefinementCtx,
  entries: readonly string[],
  read: (entry: string) => unknown,
  path: readonly (string | number)[] = [],
): void {
  entries.forEach((entry, place) => {
    try {
      read(entry);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      context.addIssue({ code: 'custom', path: [...path, place], message: error.message });
    }
  });
}
