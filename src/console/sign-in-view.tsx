import { CONSOLE_TEXTS } from './console-texts.js';
import { NoAnswer } from './no-answer.js';
import { onService } from './service-path.js';
import type { Unanswered } from './session-reader.js';

interface SignInProps {
  /** Why the service did not answer. */
  readonly fault: Unanswered;
  /** Whether the page was just opened; otherwise, if the reader is signed out, a session has ended. */
  readonly isFirst?: boolean;
  /** Asks the service once more. */
  onAgain?(): void;
}

/** The way back in, for a reader whom the service does not know; for another fault what it said. */
export function SignIn({ fault, isFirst = false, onAgain }: SignInProps) {
  if (fault.reason !== 'signed_out') return <NoAnswer why={fault.message} onAgain={onAgain} />;
  const here = `/console${location.search}`;
  return (
    <section class="card">
      <h2>{CONSOLE_TEXTS.signedOut}</h2>
      <p>{isFirst ? CONSOLE_TEXTS.signedOutHelp : CONSOLE_TEXTS.expired}</p>
      <p class="choose">
        <a class="button" href={onService(`/console/sign-in?return_to=${encodeURIComponent(here)}`)}>
          {CONSOLE_TEXTS.signIn}
        </a>
      </p>
    </section>
  );
}

/** The way back in, in another window: what was typed and shown stays here. */
export function SignInAgain() {
  return (
    <p class="choose">
      <a class="button" href={onService('/console/sign-in?return_to=/console')} target="_blank" rel="noopener">
        {CONSOLE_TEXTS.signIn}
      </a>
    </p>
  );
}
