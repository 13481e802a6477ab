import { visibleLine } from '../core/evidence/visible-text.js';

/**
 * Text that somebody else chose: shown as text, in its own direction, with characters that would hide or reorder other
 * text written out.
 */
export function EvidenceText({ text }: { readonly text: string }) {
  return <bdi class="evidence">{visibleLine(text)}</bdi>;
}

/** A hash, an id or a key: may break anywhere. */
export function Code({ text }: { readonly text: string }) {
  return <code>{visibleLine(text)}</code>;
}
