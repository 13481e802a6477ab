/** RFC 3339, also as Python writes it: with a space, or without a zone. */
export const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[+-]\d{2}:\d{2})?$/;
export const VERSION = /^\d{1,3}(\.\d{1,3}){0,3}$/;
/** A version member that is no version: which draft the document follows cannot be told. */
const NO_VERSION = 'unknown';

interface Texts {
  readonly updatedAt?: string;
  readonly createdAt?: string;
  readonly vconMember?: string;
}

/**
 * The texts of a vCon that are passed on: its times and its version, only in their form. A text of any other form could
 * be anything that a person said.
 */
export function vconTexts(texts: { readonly [Name in keyof Texts]: string | undefined }): Texts {
  const { updatedAt, createdAt, vconMember } = texts;
  return {
    ...(updatedAt && DATE_TIME.test(updatedAt) ? { updatedAt } : {}),
    ...(createdAt && DATE_TIME.test(createdAt) ? { createdAt } : {}),
    ...(vconMember ? { vconMember: VERSION.test(vconMember) ? vconMember : NO_VERSION } : {}),
  };
}
