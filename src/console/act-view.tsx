import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { EvidenceText } from './evidence-text.js';
import { OPERATOR_TEXTS } from './operator-texts.js';
import { onService } from './service-path.js';
import { SignInAgain } from './sign-in-view.js';
import { TEXTS as SHARED_TEXTS } from './texts.js';
import type { Act } from './use-act.js';

/** What came of the last change. On a small screen it may stand far above the button: it is brought into view. */
export function ActResult({ act: { isBusy, fault, isSignedOut, done } }: { readonly act: Act }) {
  const alert = useRef<HTMLParagraphElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (fault !== '') alert.current?.scrollIntoView({ block: 'nearest' });
    else if (done !== '') status.current?.scrollIntoView({ block: 'nearest' });
  }, [fault, done]);
  return (
    <>
      <p ref={status} role="status" class="good">
        <EvidenceText text={isBusy ? OPERATOR_TEXTS.working : done} />
      </p>
      {fault !== '' && (
        <p ref={alert} role="alert" class="fault">
          <EvidenceText text={isSignedOut ? OPERATOR_TEXTS.signInAgain : fault} />
        </p>
      )}
      {isSignedOut && <SignInAgain />}
    </>
  );
}

interface ConfirmProps {
  readonly label: string;
  /** What to call the row of the button. */
  readonly row: string;
  /** The question, and what happens then. */
  readonly title: string;
  readonly help: string;
  readonly isBusy: boolean;
  onConfirm(): void;
}

/** A button whose consequences are said before anything happens. The dialog gives the focus back when it closes. */
export function ConfirmButton({ label, row, title, help, isBusy, onConfirm }: ConfirmProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={SHARED_TEXTS.ofRow(label, row)}
        aria-disabled={isBusy}
        onClick={() => isBusy || dialog.current?.showModal()}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={`${id}-title`} aria-describedby={`${id}-help`}>
        <h2 id={`${id}-title`}>
          <EvidenceText text={title} />
        </h2>
        <p id={`${id}-help`}>{help}</p>
        <p class="choose">
          <button
            type="button"
            class="primary"
            onClick={() => {
              close();
              onConfirm();
            }}
          >
            {label}
          </button>{' '}
          <button type="button" onClick={close}>
            {OPERATOR_TEXTS.cancel}
          </button>
        </p>
      </dialog>
    </>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly help?: string;
  readonly isEmail?: boolean;
  readonly isRequired?: boolean;
  /** More than one line. */
  readonly isLong?: boolean;
  /** Why the text cannot be sent, if it cannot: the form is then not submitted, and the browser points at the field. */
  readonly fault?: string | undefined;
  onText(text: string): void;
}

/** A field with its label and its help. */
export function TextField({ label, value, help, isEmail, isRequired, isLong, fault, onText }: TextFieldProps) {
  const id = useId();
  const described = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(' ');
  const shared = {
    id,
    value,
    ref: (field: HTMLInputElement | HTMLTextAreaElement | null) => field?.setCustomValidity(fault ?? ''),
    required: isRequired ?? false,
    spellcheck: false,
    autocomplete: 'off',
    ...(described && { 'aria-describedby': described }),
    ...(fault && { 'aria-invalid': true }),
  };
  const kind = isEmail ? ({ type: 'email' } as const) : ({ type: 'text' } as const);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea {...shared} rows={2} onInput={(event) => onText(event.currentTarget.value)} />
      ) : (
        <input {...shared} {...kind} onInput={(event) => onText(event.currentTarget.value)} />
      )}
      {help && (
        <p id={`${id}-help`} class="hint">
          {help}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} class="fault">
          <EvidenceText text={fault} />
        </p>
      )}
    </div>
  );
}

/** What stands below each page for Owners. */
export function ApiLink({ children }: { readonly children?: ComponentChildren }) {
  return (
    <p class="part hint">
      {children} <a href={onService('/docs')}>{OPERATOR_TEXTS.api}</a>.
    </p>
  );
}
