import type { RefObject } from 'preact';
import { verdictDocument } from '../core/verify/verdict.js';
import { asSentence } from './as-sentence.js';
import type { CheckResult } from './check-evidence.js';
import { Code, EvidenceText } from './evidence-text.js';
import { dateInUtc } from './moment.js';
import { hasWebCrypto } from './page-verify.js';
import { repeatCommand } from './repeat-command.js';
import { ReportView } from './report-view.js';
import { saveFile } from './save-file.js';
import { TEXTS } from './texts.js';
import { VerdictView } from './verdict-view.js';

type Look = 'verified' | 'refused' | 'incomplete' | 'unreadable';

const MARKS: Readonly<Record<Look, string>> = {
  verified: 'M5 13l4 4 10-10',
  refused: 'M6 6l12 12M18 6L6 18',
  incomplete: 'M12 6v8M12 18v.01',
  unreadable: 'M6 12h12',
};

interface BannerProps {
  readonly look: Look;
  readonly title: string;
  readonly lines: readonly string[];
  readonly fingerprint?: string | undefined;
  readonly heading: RefObject<HTMLHeadingElement | null>;
}

function Banner({ look, title, lines, fingerprint, heading }: BannerProps) {
  return (
    <div class={`banner ${look}`}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="11" />
        <path d={MARKS[look]} />
      </svg>
      <div>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {lines.map((line) => (
          <p key={line}>
            <EvidenceText text={line} />
          </p>
        ))}
        {fingerprint !== undefined && (
          <p>
            {TEXTS.claimedFingerprint} <Code text={fingerprint} />
          </p>
        )}
      </div>
    </div>
  );
}

interface ResultProps {
  readonly result: CheckResult;
  readonly heading: RefObject<HTMLHeadingElement | null>;
}

type Answered = Extract<CheckResult, { verdict: unknown }>;

/** Nothing is refused, and nobody but the evidence vouches for its keys. */
const isOnItsOwnWord = ({ origin, verdict }: Answered): boolean =>
  origin === 'claimed_root' && verdict.outcome !== 'refused';

/** Whether there is an answer that says what is proven. */
export const hasVerdict = (result: CheckResult | undefined): boolean =>
  result !== undefined && 'verdict' in result && !isOnItsOwnWord(result);

/** Nothing is refused, and the reader did not say whose records are expected. */
const isUnpinned = ({ verdict }: Answered): boolean =>
  verdict.outcome !== 'refused' && verdict.missing.some(({ what }) => what === 'issuer');

/** What counted beside a root fingerprint, or instead of it. */
function alsoTrusted({ origin, reader }: Answered): readonly string[] {
  if (!reader.root || reader.keys.length === 0) return [];
  return [origin === 'given_keys' ? TEXTS.rootUnused : TEXTS.keysToo];
}

/** The answer in a word or two. */
export function titleOf(result: CheckResult): string {
  if ('problem' in result) return TEXTS.problems[result.problem];
  return isOnItsOwnWord(result) ? TEXTS.unvouched : TEXTS.outcome[result.verdict.outcome];
}

/** The answer to the reader: the outcome first. */
export function ResultView({ result, heading }: ResultProps) {
  const title = titleOf(result);
  if ('problem' in result)
    return <Banner look="unreadable" title={title} lines={[asSentence(result.detail)]} heading={heading} />;
  const { verdict, origin, root, fingerprint } = result;
  const isUnvouched = isOnItsOwnWord(result);
  const manifest = root ? TEXTS.manifest(root.manifest.number, dateInUtc(root.manifest.issuedAtMs)) : undefined;
  const keysFrom = manifest === undefined ? [] : [TEXTS.keysFrom[origin](manifest)];
  const lines = [
    isUnvouched ? TEXTS.unvouchedSummary : TEXTS.summary[verdict.outcome],
    ...(isUnpinned(result) && !isUnvouched ? [TEXTS.unpinned] : []),
    ...(origin === 'given_keys' ? [TEXTS.keysFrom.given_keys()] : keysFrom),
    ...alsoTrusted(result),
    ...(hasWebCrypto() ? [] : [TEXTS.plainCrypto]),
  ];
  return (
    <>
      <Banner
        look={verdict.outcome}
        title={title}
        lines={lines}
        fingerprint={isUnvouched ? fingerprint : undefined}
        heading={heading}
      />
      <div class="screen">
        <VerdictView verdict={verdict} isVouched={!isUnvouched} />
        <Actions result={result} />
      </div>
      <ReportView result={result} isVouched={!isUnvouched} />
    </>
  );
}

function Actions({ result }: { readonly result: Answered }) {
  const save = () => {
    const text = JSON.stringify(verdictDocument(result.verdict, result.files), null, 2);
    saveFile('verdict.json', new Blob([`${text}\n`], { type: 'application/json' }));
  };
  return (
    <section class="part actions">
      <p class="choose">
        <button type="button" onClick={save}>
          {TEXTS.save}
        </button>{' '}
        <button type="button" onClick={() => print()}>
          {TEXTS.print}
        </button>
      </p>
      <details>
        <summary>{TEXTS.repeatTitle}</summary>
        <p class="hint">{TEXTS.repeatHelp}</p>
        <p>
          <Code text={repeatCommand(result)} />
        </p>
      </details>
    </section>
  );
}
