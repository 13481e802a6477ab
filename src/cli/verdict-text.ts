import { kindName } from '../core/evidence/evidence-kind.js';
import { REFUSAL_MEANINGS } from '../core/evidence/refusal-meaning.js';
import {
  CLAIM_KINDS,
  FACT_TITLES,
  factText,
  NOT_COVERED,
  proofText,
  saysSomething,
  speakers,
  TIMES_DIFFER,
  TIMES_MEANING,
} from '../core/evidence/verdict-words.js';
import type { Claim } from '../core/verify/claim.js';
import type { Contradiction, NotCovered, TakenFor, Verdict } from '../core/verify/verdict.js';

const line = (title: string, text: string): string => `    ${title.padEnd(15)} ${text}`;

function claimText({ kind, piece, facts, by }: Claim): string[] {
  const shown = FACT_TITLES.flatMap(([name, title]) => {
    const value = facts[name];
    return saysSomething(value) ? [line(title, factText(name, value))] : [];
  });
  return [
    `  ${piece}: ${CLAIM_KINDS[kind]}`,
    ...shown,
    // One piece of evidence may be in several files.
    ...new Set(by.map((proof) => line('proven by', proofText(proof)))),
  ];
}

function refusalText({ code, piece, member, detail }: Contradiction): string[] {
  const where = member === undefined ? piece : `${piece}, ${member}`;
  const meaning = REFUSAL_MEANINGS[code];
  return [`  ${where}: ${detail} [${code}]`, ...(meaning === undefined ? [] : [`    ${meaning}`])];
}

function openText({ piece, members, why, detail }: NotCovered): string {
  const what = members.length === 0 ? piece : `${piece}: ${members.join(', ')}`;
  return `  ${what} (${NOT_COVERED[why]}: ${detail})`;
}

/** Returns the first line: the outcome, who recorded the facts, and whether no issuer was pinned; or what a refusal means. */
function headline({ outcome, claims, contradictions: [refusal], missing, remarks }: Verdict): string {
  if (refusal) return ['REFUSED.', REFUSAL_MEANINGS[refusal.code] ?? []].flat().join(' ');
  const pinned = missing.some(({ what }) => what === 'issuer') ? ' No issuer was pinned (--issuer).' : '';
  const doubt = remarks.length === 0 ? '' : ` ${TIMES_DIFFER}`;
  const found =
    outcome === 'verified' ? 'VERIFIED.' : 'INCOMPLETE. Nothing false was found, but not everything could be proven.';
  return [found, speakers(claims)].filter((each) => each !== '').join(' ') + pinned + doubt;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

/** Returns a verdict as lines: the outcome, contradictions, remarks, facts, what is not covered, and what was not given. */
export function verdictLines(verdict: Verdict, files: readonly TakenFor[]): string[] {
  const { outcome, claims, contradictions, notCovered, missing, remarks } = verdict;
  return [
    headline(verdict),
    ...section('Contradictions:', contradictions.flatMap(refusalText)),
    ...section(
      `${TIMES_DIFFER} ${TIMES_MEANING}`,
      remarks.map(({ piece, detail }) => `  ${piece}: ${detail}`),
    ),
    ...section(outcome === 'refused' ? 'Proven apart from that:' : 'Proven:', claims.flatMap(claimText)),
    ...section('Not covered:', notCovered.map(openText)),
    ...section(
      'Not given:',
      missing.map(({ detail }) => `  ${detail}`),
    ),
    ...section(
      'Files:',
      files.map(({ file, kind }) => `  ${file}: read as ${kindName(kind)}`),
    ),
  ];
}
