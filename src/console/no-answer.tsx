import { EvidenceText } from './evidence-text.js';
import { TEXTS } from './texts.js';

interface NoAnswerProps {
  /** What the service said. */
  readonly why: string;
  /** Asks once more. */
  readonly onAgain?: (() => void) | undefined;
}

/** In place of what a page would show: why it cannot, with a button that asks the service once more. */
export function NoAnswer({ why, onAgain }: NoAnswerProps) {
  return (
    <section class="banner unreadable" aria-label={TEXTS.problems.no_answer}>
      <div>
        <p role="alert">
          <EvidenceText text={why} />
        </p>
        {onAgain && (
          <button type="button" onClick={onAgain}>
            {TEXTS.again}
          </button>
        )}
      </div>
    </section>
  );
}
