import { CONSOLE_TEXTS } from './console-texts.js';
import type { Unanswered } from './session-reader.js';

interface SignInProps {
  /** Why the service did not answer. */
  readonly fault: Unanswered;
  /** Whether the page was just opened; otherwise a session has ended. */
  readonly isFirst?: boolean;
  /** Asks the service once more. */
  onAgain?(): void;
}

/** The way back in, for a reader whom the service does not know; for another fault what it said. */
export function SignIn({ fault, isFirst = false, onAgain }: SignInProps) {
  if (fault.reason !== 'signed_out') return isFirst ? <FaultView fault={fault} onAgain={onAgain} /> : null;
  const here = location.pathname + location.search;
  return (
    <section class="card">
      <h2>{CONSOLE_TEXTS.signedOut}</h2>
      <p>{isFirst ? CONSOLE_TEXTS.signedOutHelp : CONSOLE_TEXTS.expired}</p>
      <p class="choose">
        <a class="button" href={`/console/sign-in?return_to=${encodeURIComponent(here)}`}>
          {CONSOLE_TEXTS.signIn}
        </a>
      </p>
    </section>
  );
}

/** What the service said, in place of what a page would show, with a button that asks once more. */
export function FaultView({
  fault,
  onAgain,
}: Pick<SignInProps, 'fault'> & { readonly onAgain?: (() => void) | undefined }) {
  return (
    <section class="banner unreadable" aria-label={CONSOLE_TEXTS.failed}>
      <div>
        <p role="alert">{fault.message}</p>
        {onAgain && (
          <button type="button" onClick={onAgain}>
            {CONSOLE_TEXTS.again}
          </button>
        )}
      </div>
    </section>
  );
}
