import { z } from 'zod';
import type { Principal } from '../platform/http/principal.js';
import { plainText } from '../platform/plain-text.js';

/** A principal as events carry it: four texts, hashed with the event. A type, because events carry it as a map as well. */
export type PrincipalRecord = {
  readonly issuer: string;
  readonly subject: string;
  readonly display_name: string;
  readonly email: string;
};

const text = plainText(1024).default('');

/** A caller's `principal_declared`; missing members are empty. */
export const principalRecordSchema = z.object({ issuer: text, subject: text, display_name: text, email: text });

/** A principal in a response. */
export const shownPrincipalSchema = z.strictObject({
  issuer: z.string(),
  subject: z.string(),
  display_name: z.string(),
  email: z.string(),
});

export function principalRecord(principal: Principal): PrincipalRecord {
  return {
    issuer: principal.issuer,
    subject: principal.subject,
    display_name: principal.displayName,
    email: principal.email,
  };
}

/** The public form of an event has this in place of its principals. */
export const BLANK_PRINCIPAL: PrincipalRecord = { issuer: '', subject: '', display_name: '', email: '' };
