import { z } from 'zod';
import { ApiError } from './errors.js';

const UNSTORABLE = /\0|\p{Surrogate}/u;

/** True for text that PostgreSQL can store and every UTF-8 reader reads alike: no U+0000, no lone surrogate. */
export function isPlainText(value: string): boolean {
  return !UNSTORABLE.test(value);
}

/** @throws {ApiError} bad_request naming the parameter of a filter that is not plain text as defined above */
export function requirePlain(value: string, parameter: string): void {
  if (!isPlainText(value))
    throw new ApiError('bad_request', `${parameter}: must not contain U+0000 or a lone surrogate`);
}

/** A text of at most `max` UTF-16 units that is plain text as defined above. */
export function plainText(max: number) {
  return z.string().max(max).refine(isPlainText, 'must not contain U+0000 or a lone surrogate');
}
