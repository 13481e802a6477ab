import type { ComponentChildren } from 'preact';
import { REFUSAL_MEANINGS } from '../core/evidence/refusal-meaning.js';
import { speakers, TIMES_DIFFER, TIMES_MEANING } from '../core/evidence/verdict-words.js';
import type { Claim } from '../core/verify/claim.js';
import { type DocumentForm, describeForm, isAttachment } from '../core/verify/match-document.js';
import type { Contradiction, NotCovered, NotCoveredReason, Verdict } from '../core/verify/verdict.js';
import { asSentence } from './as-sentence.js';
import { ClaimView, OperationView } from './claim-view.js';
import { EvidenceText } from './evidence-text.js';
import { operationsOf, otherClaims, sameClaims } from './operations.js';
import { TEXTS } from './texts.js';

function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Refusals({ contradictions }: { readonly contradictions: readonly Contradiction[] }) {
  if (contradictions.length === 0) return null;
  return (
    <Section title={TEXTS.contradictions}>
      <ul class="refusals">
        {contradictions.map(({ code, piece, member, detail }) => (
          <li key={code + piece + member + detail}>
            <strong>
              <EvidenceText text={member === undefined ? piece : `${piece}, ${member}`} />
            </strong>
            <p>{REFUSAL_MEANINGS[code]}</p>
            <p class="detail">
              <EvidenceText text={asSentence(detail)} /> <code>{code}</code>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Open({ items }: { readonly items: readonly Omit<NotCovered, 'why'>[] }) {
  return (
    <ul class="open">
      {items.map(({ piece, members, detail }) => (
        <li key={piece + members.join() + detail}>
          <strong>
            <EvidenceText text={piece} />
          </strong>
          <p>
            <EvidenceText text={asSentence(detail)} />
          </p>
          {members.length > 0 && (
            <p class="detail">
              <EvidenceText text={members.join(', ')} />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function Documents({ verdict }: { readonly verdict: Verdict }) {
  const documents = otherClaims(verdict.claims, ['document']);
  if (documents.length === 0) {
    const isOpen = verdict.claims.some(({ facts }) => facts.payload_hash !== undefined);
    return isOpen && verdict.contradictions.length === 0 ? <p class="hint">{TEXTS.documentMissing}</p> : null;
  }
  return (
    <Section title={TEXTS.documents}>
      <ul class="open">
        {documents.map((claim) => (
          <li key={claim.piece}>
            <strong>
              <EvidenceText text={(isAttachment(claim) ? TEXTS.attachmentIs : TEXTS.documentIs)(claim.piece)} />
            </strong>
            <p class="detail">{claim.facts.form === undefined ? '' : describeForm(claim.facts.form as DocumentForm)}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface VerdictProps {
  readonly verdict: Verdict;
  /** Whether the reader trusts the keys. */
  readonly isVouched: boolean;
}

function Claims({ title, claims }: { readonly title: string; readonly claims: readonly Claim[] }) {
  if (claims.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="timeline">
        {sameClaims(claims).map((same) => (
          <ClaimView key={same[0]!.kind + same[0]!.piece} claims={same} />
        ))}
      </ul>
    </Section>
  );
}

function Proven({ verdict, isVouched }: VerdictProps) {
  const operations = operationsOf(verdict.claims);
  const logs = otherClaims(verdict.claims, ['entry', 'log', 'extension', 'witnessed']);
  const who = speakers(verdict.claims);
  const proven = verdict.outcome === 'refused' ? TEXTS.operationsRefused : TEXTS.operations;
  const title = isVouched ? proven : TEXTS.operationsUnvouched;
  return (
    <>
      {operations.length > 0 && (
        <Section title={title}>
          <p class="detail">
            <EvidenceText text={who} />
          </p>
          <ol class="timeline">
            {operations.map((operation) => (
              <OperationView key={operation.place} operation={operation} />
            ))}
          </ol>
        </Section>
      )}
      <Claims title={TEXTS.assetTitle} claims={otherClaims(verdict.claims, ['public_asset'])} />
      <Claims title={TEXTS.logs} claims={logs} />
    </>
  );
}

function Pieces({ pieces }: { readonly pieces: readonly string[] }) {
  return (
    <details>
      <summary>{TEXTS.allPieces(pieces.length)}</summary>
      <ul class="plain">
        {pieces.map((piece) => (
          <li key={piece}>
            <EvidenceText text={piece} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** What lies behind a click: nothing of it changes the outcome. */
function Folded({
  title,
  help,
  items,
}: {
  readonly title: string;
  readonly help?: string;
  readonly items: readonly NotCovered[];
}) {
  if (items.length === 0) return null;
  return (
    <details class="part">
      <summary>
        {title} ({items.length})
      </summary>
      {help && <p class="hint">{help}</p>}
      <Open items={items} />
    </details>
  );
}

/** All parts of a verdict, the most important first. */
export function VerdictView({ verdict, isVouched }: VerdictProps) {
  const because = (reason: NotCoveredReason) => verdict.notCovered.filter(({ why }) => why === reason);
  // The first words of the answer say already that nobody vouched for the keys.
  const unproven = because('unproven').filter(({ piece }) => isVouched || piece !== TEXTS.keysPiece);
  return (
    <>
      <Refusals contradictions={verdict.contradictions} />
      {verdict.remarks.length > 0 && (
        <Section title={TIMES_DIFFER}>
          <p class="hint">{TIMES_MEANING}</p>
          <Open items={verdict.remarks.map((remark) => ({ ...remark, members: [] }))} />
        </Section>
      )}
      {unproven.length > 0 && (
        <Section title={TEXTS.unproven}>
          <Open items={unproven} />
        </Section>
      )}
      <Documents verdict={verdict} />
      <Proven verdict={verdict} isVouched={isVouched} />
      {verdict.missing.length > 0 && (
        <Section title={TEXTS.missingTitle}>
          <ul class="plain">
            {verdict.missing.map(({ what, detail, pieces }) => (
              <li key={what + detail}>
                <EvidenceText text={asSentence(detail)} />
                {pieces && <Pieces pieces={pieces} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Folded title={TEXTS.openTitle} help={TEXTS.openHelp} items={because('by_design')} />
      <Folded title={TEXTS.explanationsTitle} items={because('explanation')} />
      {verdict.claims.length > 0 && (
        <details class="part">
          <summary>{TEXTS.limitsTitle}</summary>
          <ul class="plain">
            {TEXTS.limits.map((limit) => (
              <li key={limit}>{limit}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
