import { useState } from 'preact/hooks';
import { TEXTS } from './texts.js';

interface CopyProps {
  readonly text: string;
  /** What is copied, if more than one button on the page copies something. */
  readonly label?: string;
  /** What the text is of, where the button's surroundings are not seen. */
  readonly of?: string;
}

/** Copies a text. There is no button where the browser refuses: only pages over HTTPS, or of this machine, may write. */
export function CopyButton({ text, label = TEXTS.copy, of = '' }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  if (navigator.clipboard === undefined) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <>
      <button type="button" aria-label={of === '' ? undefined : TEXTS.ofRow(label, of)} onClick={copy}>
        {label}
      </button>{' '}
      <span role="status" class="hint">
        {isCopied ? TEXTS.copied : ''}
      </span>
    </>
  );
}
