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
export function statementAttributes(statement: ExaminedStatement): Readonly<Record<string, string>> {
  const { read, payload, submitted, issuer, subject } = statement;
  const { preimageContentType, payloadLocation, payloadHashAlg } = read;
  const hash = Object.values(HASHES).find(({ alg }) => alg === payloadHashAlg);
  const contentType = read.sign1.protectedHeader.get(Header.contentType);
  const said: Record<string, unknown> = {
    ...Object.fromEntries(META_ATTRIBUTES.map((name) => [name, read.meta.get(name)])),
    ...(hash?.length === payload.length ? { payload: toHex(payload), payload_hash_alg: hash.name } : {}),
    payload_preimage_content_type: preimageContentType,
    payload_location: payloadLocation,
    content_type: contentType,
  };
  const texts = Object.entries(said).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '' && isPlainText(entry[1]),
  );
  return {
    arc_display_type: 'signed_statement',
    ...Object.fromEntries(texts),
    issuer,
    subject,
    signed_statement: Buffer.from(submitted).toString('base64'),
  };
}
