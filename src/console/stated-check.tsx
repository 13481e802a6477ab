import type { RefObject } from 'preact';
import { EvidenceText } from './evidence-text.js';
import { ResultView, titleOf } from './result-view.js';
import { readKeyFiles } from './stated-trust.js';
import { TEXTS } from './texts.js';
import { TrustForm } from './trust-form.js';
import type { useCheck } from './use-check.js';
import type { useStatedTrust } from './use-stated-trust.js';

interface StatedCheckProps {
  readonly isStarted: boolean;
  readonly trust: ReturnType<typeof useStatedTrust>;
  readonly check: ReturnType<typeof useCheck>;
  readonly heading: RefObject<HTMLHeadingElement | null>;
  /** Why nothing can be checked; empty if something can. */
  readonly fault?: string;
}

/** Whom the reader trusts, once the check has been started, and its progress or its answer. */
export function StatedCheck({ isStarted, trust, check: { result, progress }, heading, fault = '' }: StatedCheckProps) {
  const unchecked = fault || (isStarted && !trust.isReadable ? TEXTS.notChecked : '');
  return (
    <>
      {isStarted && (
        <TrustForm
          stated={trust.stated}
          faults={trust.faults}
          isRootGood={trust.reader.root !== undefined}
          keyCount={trust.reader.keys.length}
          onChange={trust.change}
          onKeyFiles={(chosen) => readKeyFiles(chosen).then(trust.setKeys)}
        />
      )}
      <section class={isStarted ? 'result' : ''} aria-label={TEXTS.resultTitle} aria-busy={progress !== undefined}>
        <p role="status" class="hint">
          <EvidenceText text={unchecked || (progress === undefined ? '' : `${TEXTS.checking} ${progress}`)} />
          {/* For who does not see the answer below, and goes on typing. */}
          {progress === undefined && result && <span class="unseen">{TEXTS.answer(titleOf(result))}</span>}
        </p>
        {result && <ResultView result={result} heading={heading} />}
      </section>
    </>
  );
}
