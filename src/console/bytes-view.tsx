import { toHex } from '../core/bytes.js';
import { visibleText } from '../core/evidence/visible-text.js';
import type { CoveredBytes } from '../core/verify/covered-bytes.js';
import { cborText } from './cbor-text.js';
import { Preformatted } from './preformatted.js';
import { TEXTS } from './texts.js';

/** Bytes in hex. */
export function HexView({ bytes }: { readonly bytes: Uint8Array }) {
  return <Preformatted>{toHex(bytes)}</Preformatted>;
}

/** Bytes that a proof covers: in hex, and decoded for a person. */
export function BytesView({ covered }: { readonly covered: CoveredBytes }) {
  const { bytes } = covered;
  return (
    <>
      <p class="hint">{TEXTS.path.inHex(bytes.length)}</p>
      <HexView bytes={bytes} />
      <p class="hint">{TEXTS.path.decoded}</p>
      <Preformatted>{visibleText(decoded(covered))}</Preformatted>
    </>
  );
}

/** The prefix in hex, a line for itself, then what follows it. */
function decoded({ bytes, prefix, form }: CoveredBytes): string {
  const content = bytes.subarray(prefix);
  const text = form === 'cbor' ? cborText(content) : new TextDecoder().decode(content);
  return prefix === 0 ? text : `${toHex(bytes.subarray(0, prefix))}\n${text}`;
}
