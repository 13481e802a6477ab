import { z } from 'zod';
import { orDecimalText } from '../../platform/decimal-text.js';
import { plainText } from '../../platform/plain-text.js';
import { type Attributes, attributesSchema, sentAttributesSchema } from '../attributes.js';

/** A geographic place, owned by one tenancy. */
export interface Location {
  readonly tenantId: string;
  readonly locationId: string;
  readonly displayName: string;
  readonly description: string;
  /** Decimal degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly attributes: Attributes;
  readonly createdAt: Date;
}

/** The interface's limits of locationsv2. */
const displayName = plainText(128).min(1);
const description = plainText(8096);
const latitude = orDecimalText(z.number().min(-90).max(90));
const longitude = orDecimalText(z.number().min(-180).max(180));

/** Body of `POST /archivist/v2/locations`. Attributes are checked by `readAttributes`. */
export const createLocationSchema = z.object({
  display_name: displayName,
  description: description.nullish(),
  latitude,
  longitude,
  attributes: sentAttributesSchema.nullish(),
});
export type CreateLocationBody = z.output<typeof createLocationSchema>;

/**
 * Body of `PATCH /archivist/v2/locations/{uuid}`: missing and null fields stay unchanged; attributes are replaced as a
 * whole.
 */
export const changeLocationSchema = z.object({
  display_name: displayName.nullish(),
  description: description.nullish(),
  latitude: latitude.nullish(),
  longitude: longitude.nullish(),
  attributes: sentAttributesSchema.nullish(),
});
export type ChangeLocationBody = z.output<typeof changeLocationSchema>;

const subjectIdentities = z.array(plainText(128).min(1)).max(1000);

/**
 * Body of `PATCH …/permissions`. The interface sends the whole record, the original's documentation only its inner
 * object (docs/design/interface.md#shapes); both are accepted.
 */
export const locationPermissionsSchema = z
  .object({
    permissions: z.object({ subject_identities: subjectIdentities }).optional(),
    subject_identities: subjectIdentities.optional(),
  })
  .transform(({ permissions, subject_identities }, context) => {
    const given = permissions?.subject_identities ?? subject_identities;
    if (given) return { subject_identities: given };
    context.addIssue({ code: 'custom', message: 'must hold subject_identities, a list of texts' });
    return z.NEVER;
  });

/** A location in a response. */
export const locationSchema = z.strictObject({
  identity: z.string(),
  display_name: z.string(),
  description: z.string(),
  latitude: z.number().meta({ format: 'double' }),
  longitude: z.number().meta({ format: 'double' }),
  attributes: attributesSchema,
  owner: z.string(),
  tenant: z.string(),
});

/** The subjects besides the Owners that may change a location, in a response. */
export const shownPermissionsSchema = z.strictObject({
  location_identity: z.string(),
  permissions: z.strictObject({ subject_identities: z.array(z.string()) }),
});

export function locationIdentity(locationId: string): string {
  return `locations/${locationId}`;
}

/** A location as the interface shows it. @param owner the tenancy's wallet address */
export function locationResponse(location: Location, owner: string): Record<string, unknown> {
  return {
    identity: locationIdentity(location.locationId),
    display_name: location.displayName,
    description: location.description,
    latitude: location.latitude,
    longitude: location.longitude,
    attributes: location.attributes,
    owner,
    tenant: `tenant/${location.tenantId}`,
  };
}
