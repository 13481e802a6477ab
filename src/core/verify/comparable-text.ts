import { utf8 } from '../bytes.js';
import { canonicalJson, NoCanonicalFormError } from '../vcon/jcs.js';
import { readJson } from '../vcon/json-document.js';

/** Returns a text that is equal for equal values. A lone surrogate has no canonical form, and no proven event has one. */
export function comparableText(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  try {
    return canonicalJson(readJson(utf8(text)).value).text;
  } catch (error) {
    if (error instanceof NoCanonicalFormError) return text;
    throw error;
  }
}
