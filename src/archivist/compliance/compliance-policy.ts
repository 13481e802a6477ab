import { z } from 'zod';
import { parsePolicyFilter } from '../../filter/attribute-filter.js';
import { orDecimalText } from '../../platform/decimal-text.js';
import { plainText } from '../../platform/plain-text.js';
import { refuseUnreadable } from '../../platform/refuse-unreadable.js';
import { parseRichnessAssertions } from './richness-assertion.js';

/** The interface's policy types. `COMPLIANCE_TYPE_UNDEFINED` is not a valid type. */
export const COMPLIANCE_TYPES = [
  'COMPLIANCE_SINCE',
  'COMPLIANCE_CURRENT_OUTSTANDING',
  'COMPLIANCE_PERIOD_OUTSTANDING',
  'COMPLIANCE_DYNAMIC_TOLERANCE',
  'COMPLIANCE_RICHNESS',
] as const;
type ComplianceType = (typeof COMPLIANCE_TYPES)[number];

/** A century. Longer periods and windows are mistakes, and milliseconds stay exact in a number. */
export const MAX_SECONDS = 100 * 366 * 86_400;
const MAX_VARIABILITY = 1_000_000;
const MAX_DISPLAY_TYPE = 1024;
const MAX_ENTRY = 8192;
const MAX_ALTERNATIVES = 128;

/**
 * The fields that each type requires besides name, type and filter. Stock clients send no closing type with SINCE
 * (docs/design/interface.md#shapes).
 */
const REQUIRED = {
  COMPLIANCE_SINCE: ['event_display_type', 'time_period_seconds'],
  COMPLIANCE_CURRENT_OUTSTANDING: ['event_display_type', 'closing_event_display_type'],
  COMPLIANCE_PERIOD_OUTSTANDING: ['event_display_type', 'closing_event_display_type', 'time_period_seconds'],
  COMPLIANCE_DYNAMIC_TOLERANCE: [
    'event_display_type',
    'closing_event_display_type',
    'dynamic_window',
    'dynamic_variability',
  ],
  COMPLIANCE_RICHNESS: ['richness_assertions'],
} as const satisfies Record<ComplianceType, readonly string[]>;

const alternatives = z
  .array(z.object({ or: z.array(z.string().max(MAX_ENTRY)).min(1).max(MAX_ALTERNATIVES) }))
  .max(MAX_ALTERNATIVES);

/**
 * Body of `POST /archivist/v1/compliance_policies` and, with an identity, the policy itself. Every field is present;
 * unset ones are `""`, `"0"`, 0 or `[]`, as stock clients send them and expect them back. Numbers may be sent as text
 * or as numbers.
 */
export const compliancePolicySchema = z
  .object({
    compliance_type: z.enum(COMPLIANCE_TYPES),
    display_name: plainText(1024).min(1),
    description: optional(plainText(4096), ''),
    asset_filter: alternatives.superRefine((filters, context) =>
      refuseUnreadable(context, () => parsePolicyFilter(filters, { field: '', prefix: 'attributes.' })),
    ),
    event_display_type: optional(plainText(MAX_DISPLAY_TYPE), ''),
    closing_event_display_type: optional(plainText(MAX_DISPLAY_TYPE), ''),
    time_period_seconds: optional(seconds(), '0'),
    dynamic_window: optional(seconds(), '0'),
    dynamic_variability: optional(variability(), 0),
    richness_assertions: optional(
      alternatives.superRefine((filters, context) =>
        refuseUnreadable(context, () => parseRichnessAssertions(filters, '')),
      ),
      [],
    ),
  })
  .superRefine((policy, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    const { compliance_type: type, closing_event_display_type: closing } = policy;
    const required: readonly (keyof typeof policy)[] = REQUIRED[type];
    const missing = required.find((field) => isUnset(policy[field]));
    if (missing !== undefined) return refuse(missing, `is required for ${type}`);
    if (required.includes('closing_event_display_type') && closing === policy.event_display_type) {
      refuse('closing_event_display_type', 'must differ from event_display_type');
    }
  });

const shownFilter = z.array(z.strictObject({ or: z.array(z.string()) }));

/** A policy in a response. */
export const shownPolicySchema = z.strictObject({
  identity: z.string(),
  compliance_type: z.enum(COMPLIANCE_TYPES),
  display_name: z.string(),
  description: z.string(),
  asset_filter: shownFilter,
  event_display_type: z.string(),
  closing_event_display_type: z.string(),
  time_period_seconds: z.string().meta({ format: 'int64' }),
  dynamic_window: z.string().meta({ format: 'int64' }),
  dynamic_variability: z.number().meta({ format: 'float' }),
  richness_assertions: shownFilter,
});

export type CompliancePolicy = z.output<typeof compliancePolicySchema>;

function optional<Schema extends z.ZodType>(schema: Schema, unset: z.output<Schema>) {
  return schema.nullish().transform((value) => (value === null || value === undefined ? unset : value));
}

function isUnset(value: unknown): boolean {
  return value === '' || value === '0' || value === 0 || (Array.isArray(value) && value.length === 0);
}

/** Whole seconds as decimal text without leading zeros; a number is read as its text, an empty text as 0: unset. */
function seconds() {
  const accepted = `must be a whole number of seconds, at most ${MAX_SECONDS}`;
  const text = z
    .string('must be a number of seconds')
    .meta({ format: 'int64' })
    .regex(/^\d{1,19}$/, accepted)
    .refine((value) => Number(value) <= MAX_SECONDS, accepted)
    .transform((value) => String(Number(value)));
  return z.preprocess((value) => (value === '' ? '0' : typeof value === 'number' ? String(value) : value), text);
}

function variability() {
  const accepted = `must be a number of standard deviations, at most ${MAX_VARIABILITY}`;
  return orDecimalText(z.number('must be a number').min(0, accepted).max(MAX_VARIABILITY, accepted));
}
