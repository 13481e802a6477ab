import { toHex } from '../core/bytes.js';
import { HASHES } from '../core/cose/algorithms.js';
import { Header } from '../core/cose/labels.js';
import { META_ATTRIBUTES } from '../core/statement/vcon-template.js';
import { isPlainText } from '../platform/plain-text.js';
import type { ExaminedStatement } from './examine-statement.js';

/**
 * Returns the attributes of the event that a registered statement becomes: the statement, its subject (which searches
 * use), and the parts of the vCon template that it states. Everything else is only in the statement.
 */
export function statementAttributes(statement: ExaminedStatement): Record<string, string> {
  const { read, payload, submitted, issuer, subject } = statement;
  const { preimageContentType, payloadLocation, payloadHashAlg } = read;
  const hash = Object.values(HASHES).find(({ alg }) => alg === payloadHashAlg);
  const contentType = read.sign1.protectedHeader.get(Header.contentType);
  const attributes: Record<string, string> = { arc_display_type: 'signed_statement' };
  const say = (name: string, value: unknown) => {
    if (typeof value === 'string' && value !== '' && isPlainText(value)) attributes[name] = value;
  };
  for (const name of META_ATTRIBUTES) say(name, read.meta.get(name));
  if (hash?.length === payload.length) {
    say('payload', toHex(payload));
    say('payload_hash_alg', hash.name);
  }
  say('payload_preimage_content_type', preimageContentType);
  say('payload_location', payloadLocation);
  say('content_type', contentType);
  attributes['issuer'] = issuer;
  attributes['subject'] = subject;
  attributes['signed_statement'] = Buffer.from(submitted).toString('base64');
  return attributes;
}
