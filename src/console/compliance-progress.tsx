import { CONSOLE_TEXTS } from './console-texts.js';
import { SignIn } from './sign-in-view.js';
import type { ComplianceSoFar, useCompliance } from './use-compliance.js';

const TEXTS = CONSOLE_TEXTS.compliance;

interface ProgressProps {
  readonly reading: ReturnType<typeof useCompliance>;
  readonly soFar: ComplianceSoFar;
}

/** How far the page has looked, and the button that looks further. */
export function ComplianceProgress({ reading, soFar }: ProgressProps) {
  const { isBusy, fault, more } = reading;
  return (
    <section class={soFar.isWhole ? undefined : 'card'} aria-busy={isBusy}>
      <p role="status" class={soFar.isWhole ? 'hint' : undefined}>
        {isBusy ? CONSOLE_TEXTS.loading : statusText(soFar)}
      </p>
      {!soFar.isWhole && (
        <>
          <p class="hint">{TEXTS.covers}</p>
          <p class="choose">
            <button type="button" aria-disabled={isBusy} onClick={() => isBusy || more()}>
              {TEXTS.further}
            </button>
          </p>
        </>
      )}
      {fault?.reason === 'signed_out' && <SignIn fault={fault} />}
      {fault && fault.reason !== 'signed_out' && (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      )}
    </section>
  );
}

function statusText({ isWhole, assetCount, eventCount, waiting }: ComplianceSoFar): string {
  if (isWhole) return TEXTS.allLookedAt(assetCount);
  const lookedAt = TEXTS.lookedAt(assetCount, eventCount);
  return waiting === 0 ? lookedAt : `${lookedAt} ${TEXTS.waiting(waiting)}`;
}
