import { kindName } from '../core/evidence/evidence-kind.js';
import { REFUSAL_MEANINGS } from '../core/evidence/refusal-meaning.js';
import { CLAIM_KINDS, proofText, TIMES_DIFFER, TIMES_MEANING, wholeKeyText } from '../core/evidence/verdict-words.js';
import type { Claim } from '../core/verify/claim.js';
import type { NotCovered, Verdict } from '../core/verify/verdict.js';
import { asSentence } from './as-sentence.js';
import type { CheckResult } from './check-evidence.js';
import { AllFacts, EventWords, titleOfFacts } from './claim-view.js';
import { Code, EvidenceText } from './evidence-text.js';
import { Moment } from './moment.js';
import { type Operation, operationsOf, otherClaims } from './operations.js';
import { repeatCommand } from './repeat-command.js';
import { TEXTS } from './texts.js';

/** Set by the build. */
declare const VERSION: string;

type Judged = Extract<CheckResult, { verdict: unknown }>;

/** How each claim is proven, with the whole thumbprint of every key. */
function Proofs({ claims }: { readonly claims: readonly Claim[] }) {
  return (
    <ul class="plain">
      {claims.flatMap((claim) =>
        claim.by.map((proof) => (
          <li key={claim.piece + JSON.stringify(proof)}>
            <EvidenceText text={`${claim.piece} (${CLAIM_KINDS[claim.kind]}): ${proofText(proof, wholeKeyText)}`} />
          </li>
        )),
      )}
    </ul>
  );
}

function Open({ items }: { readonly items: readonly Omit<NotCovered, 'why'>[] }) {
  return (
    <ul class="plain">
      {items.map(({ piece, members, detail }) => (
        <li key={piece + members.join() + detail}>
          <EvidenceText text={`${piece}: ${detail}${members.length === 0 ? '' : ` (${members.join(', ')})`}`} />
        </li>
      ))}
    </ul>
  );
}

/** What operations share, although it lies in the place of the only one. */
const SHARED = /\/(?:index\.json|log\/.*)$/;

/** Whether a piece is one of an operation's own files. */
const isOf = ({ place }: Operation, { piece, why }: NotCovered): boolean =>
  why !== 'explanation' && !SHARED.test(piece) && (piece === place || piece.startsWith(`${place}/`));

/** Every proven member on a line: a sheet has to hold them all. */
function Members({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>
            <EvidenceText text={name} />
          </dt>
          <dd>
            <Code text={JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface SheetProps {
  readonly operation: Operation;
  readonly open: readonly NotCovered[];
  readonly provenTitle: string;
  readonly command: string;
}

/** One operation on one sheet of paper, complete without the others. */
function Sheet({ operation: { facts, claims }, open, provenTitle, command }: SheetProps) {
  const { members, ...named } = facts;
  return (
    <section class="sheet">
      <h2>
        <EvidenceText text={titleOfFacts(facts)} />
      </h2>
      <h3>{provenTitle}</h3>
      <EventWords facts={facts} />
      <AllFacts facts={named} />
      {members && <Members of={members} />}
      <h3>{TEXTS.report.how}</h3>
      <Proofs claims={claims} />
      <h3>{TEXTS.report.open}</h3>
      {open.length === 0 ? <p>{TEXTS.report.nothingOpen}</p> : <Open items={open} />}
      <h3>{TEXTS.report.repeat}</h3>
      <ul class="plain">
        {TEXTS.report.repeatSteps(command).map((step) => (
          <li key={step}>
            <EvidenceText text={step} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What was checked, when, under which root, what contradicts, and what is not proven. */
function Summary({ result: { verdict, files, fingerprint } }: { readonly result: Judged }) {
  return (
    <>
      <dl class="facts">
        <div>
          <dt>{TEXTS.report.made}</dt>
          <dd>
            <Moment time={new Date().toISOString()} />, {TEXTS.report.by(VERSION)}
          </dd>
        </div>
        {fingerprint !== undefined && (
          <div>
            <dt>{TEXTS.rootUsed}</dt>
            <dd>
              <Code text={fingerprint} />
            </dd>
          </div>
        )}
        <div>
          <dt>{TEXTS.checkedFiles}</dt>
          <dd>
            {files.map(({ file, kind }) => (
              <p key={file}>
                <EvidenceText text={`${file}: ${TEXTS.takenFor(kindName(kind))}`} />
              </p>
            ))}
          </dd>
        </div>
      </dl>
      <Refusals verdict={verdict} />
      {verdict.remarks.length > 0 && (
        <>
          <h2>{TIMES_DIFFER}</h2>
          <p>{TIMES_MEANING}</p>
          <Open items={verdict.remarks.map((remark) => ({ ...remark, members: [] }))} />
        </>
      )}
      <Unproven verdict={verdict} />
    </>
  );
}

function Unproven({ verdict: { notCovered } }: { readonly verdict: Verdict }) {
  const items = notCovered.filter(({ why }) => why === 'unproven');
  if (items.length === 0) return null;
  return (
    <>
      <h2>{TEXTS.unproven}</h2>
      <Open items={items} />
    </>
  );
}

function Refusals({ verdict: { contradictions } }: { readonly verdict: Verdict }) {
  if (contradictions.length === 0) return null;
  return (
    <>
      <h2>{TEXTS.contradictions}</h2>
      <ul class="plain">
        {contradictions.map(({ code, piece, member, detail }) => (
          <li key={code + piece + member + detail}>
            <EvidenceText text={`${member === undefined ? piece : `${piece}, ${member}`}: ${detail} (${code})`} />{' '}
            {REFUSAL_MEANINGS[code]}
          </li>
        ))}
      </ul>
    </>
  );
}

interface ReportProps {
  readonly result: Judged;
  /** Whether the reader trusts the keys. */
  readonly isVouched: boolean;
}

/** What the page prints: one sheet for each operation, and one for all that they share. It is not on the screen. */
export function ReportView({ result, isVouched }: ReportProps) {
  const { verdict } = result;
  const operations = operationsOf(verdict.claims);
  const shared = verdict.notCovered.filter(
    (each) => each.why !== 'unproven' && !operations.some((operation) => isOf(operation, each)),
  );
  const others = otherClaims(verdict.claims, ['document', 'public_asset', 'entry', 'log', 'extension', 'witnessed']);
  const proven = verdict.outcome === 'refused' ? TEXTS.report.refused : TEXTS.report.proven;
  return (
    <div class="printed">
      <Summary result={result} />
      {operations.map((operation) => (
        <Sheet
          key={operation.place}
          operation={operation}
          open={verdict.notCovered.filter((each) => isOf(operation, each))}
          provenTitle={isVouched ? proven : TEXTS.report.unvouched}
          command={repeatCommand(result)}
        />
      ))}
      <section class="sheet">
        <h2>{TEXTS.report.rest}</h2>
        <Proofs claims={others} />
        <Open items={shared} />
        <h3>{TEXTS.limitsTitle}</h3>
        <ul class="plain">
          {TEXTS.limits.map((limit) => (
            <li key={limit}>{limit}</li>
          ))}
          {verdict.missing.map(({ what, detail, pieces }) => (
            <li key={what + detail}>
              <EvidenceText text={asSentence(detail)} />
              {pieces && (
                <p class="detail">
                  <EvidenceText text={pieces.join(', ')} />
                </p>
              )}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
