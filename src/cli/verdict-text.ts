import type { Claim, Facts, KeyId, Proof } from '../core/verify/claim.js';
import { type DocumentForm, describeForm } from '../core/verify/match-document.js';
import type { Contradiction, NotCovered, TakenFor, Verdict } from '../core/verify/verdict.js';
import { kindName } from './evidence-file.js';
import { REFUSAL_MEANINGS } from './refusal-meaning.js';
import { visibleLine } from './visible-text.js';

const KINDS: Readonly<Record<Claim['kind'], string>> = {
  statement: 'a statement, signed by its issuer',
  event: 'an event that a log holds',
  entry: 'an entry that a log holds; its signer was not checked',
  document: 'a document that the evidence is about',
  log: 'the files of a log',
  extension: 'a log that extends its older state',
  public_asset: 'a public asset',
  witnessed: 'a log state that witnesses have cosigned',
};

/** The most important facts first; the JSON has every other member. */
const FACTS: readonly (readonly [name: keyof Facts, title: string])[] = [
  ['operation', 'operation'],
  ['vcon', 'vCon'],
  ['subject', 'subject'],
  ['payload_hash', 'payload hash'],
  ['payload_hash_alg', 'hash algorithm'],
  ['form', 'hashed form'],
  ['tenancy', 'tenancy'],
  ['issuer', 'issuer'],
  ['principal', 'recorded by'],
  ['created_by', 'created by'],
  ['identity', 'event'],
  ['event_type', 'event type'],
  ['declared', 'declared'],
  ['accepted', 'accepted'],
  ['committed', 'committed'],
  ['first_massif', 'first massif'],
  ['last_massif', 'last massif'],
  ['older_size', 'nodes before'],
  ['size', 'nodes'],
  ['events', 'events'],
  ['attributes', 'attributes'],
];

const line = (title: string, text: string): string => visibleLine(`    ${title.padEnd(15)} ${text}`);

function factText(name: keyof Facts, value: unknown): string {
  if (name === 'form') return describeForm(value as DocumentForm);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const keyText = ({ thumbprint }: KeyId): string => `key ${thumbprint.slice(0, 16)}…`;

function proofText(proof: Proof): string {
  switch (proof.type) {
    case 'signature':
      return `signature of ${proof.issuer ?? 'an unnamed issuer'}, ${keyText(proof.key)}`;
    case 'inclusion': {
      const { log, leaf_index: index, tree_size: size, key } = proof;
      const place = index === undefined ? 'at an index that is not proven' : `index ${index}`;
      const of = size === undefined ? '' : proof.vds === 1 ? ` of ${size} entries` : ` under a seal over ${size} nodes`;
      return `log "${log.subject ?? ''}" of ${log.issuer ?? 'an unnamed issuer'}, ${place}${of}, ${keyText(key)}`;
    }
    case 'seal':
      return `seal over ${proof.tree_size} nodes of ${proof.sealed_at}, log "${proof.log.subject ?? ''}", ${keyText(proof.key)}`;
    case 'witness':
      return `witnesses ${proof.witnesses.join(', ')}: entry ${proof.leaf_index} of ${proof.tree_size} in "${proof.origin}"`;
    case 'digest':
      return `the ${proof.member} of ${proof.of}`;
  }
}

function claimText({ kind, piece, facts, by }: Claim): string[] {
  const shown = FACTS.flatMap(([name, title]) => {
    const value = facts[name];
    return value === undefined ? [] : [line(title, factText(name, value))];
  });
  return [
    visibleLine(`  ${piece}: ${KINDS[kind]}`),
    ...shown,
    ...by.map((proof) => line('proven by', proofText(proof))),
  ];
}

function refusalText({ code, piece, member, detail }: Contradiction): string[] {
  const where = member === undefined ? piece : `${piece}, ${member}`;
  const meaning = REFUSAL_MEANINGS[code];
  return [visibleLine(`  ${where}: ${detail} [${code}]`), ...(meaning === undefined ? [] : [`    ${meaning}`])];
}

function openText({ piece, members, why, detail }: NotCovered): string {
  const what = members.length === 0 ? piece : `${piece}: ${members.join(', ')}`;
  const note = why === 'explanation' ? 'not evidence' : why === 'unproven' ? 'NOT PROVEN' : 'covered by no log';
  return visibleLine(`  ${what} (${note}: ${detail})`);
}

const MOST_SPEAKERS = 3;

/** Names the parties that recorded the facts: anyone can make a statement, so this comes first. */
function speakers(claims: readonly Claim[]): string {
  const named = claims.flatMap(({ kind, facts: { tenancy, issuer } }) => {
    if (kind !== 'statement' && kind !== 'event') return [];
    return tenancy === undefined ? [issuer ?? 'an unnamed issuer'] : [`tenancy ${tenancy}`];
  });
  const distinct = [...new Set(named)];
  if (distinct.length === 0) return '';
  const more = distinct.length - MOST_SPEAKERS;
  return ` This is what ${distinct.slice(0, MOST_SPEAKERS).join(' and ')}${more > 0 ? ` and ${more} others` : ''} recorded.`;
}

/** Returns the first line: the outcome, who recorded the facts, and whether no issuer was pinned; or what a refusal means. */
function headline({ outcome, claims, contradictions: [refusal], missing }: Verdict): string {
  if (refusal) return ['REFUSED.', REFUSAL_MEANINGS[refusal.code] ?? []].flat().join(' ');
  const pinned = missing.some(({ what }) => what === 'issuer') ? ' No issuer was pinned (--issuer).' : '';
  const found =
    outcome === 'verified' ? 'VERIFIED.' : 'INCOMPLETE. Nothing false was found, but not everything could be proven.';
  return visibleLine(`${found}${speakers(claims)}${pinned}`);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

/** Returns a verdict as text: the outcome, contradictions, facts, what is not covered, and what was not given. */
export function verdictText(verdict: Verdict, files: readonly TakenFor[]): string {
  const { outcome, claims, contradictions, notCovered, missing } = verdict;
  return [
    headline(verdict),
    ...section('Contradictions:', contradictions.flatMap(refusalText)),
    ...section(outcome === 'refused' ? 'Proven apart from that:' : 'Proven:', claims.flatMap(claimText)),
    ...section('Not covered:', notCovered.map(openText)),
    ...section(
      'Not given:',
      missing.map(({ detail }) => visibleLine(`  ${detail}`)),
    ),
    ...section(
      'Files:',
      files.map(({ file, kind }) => visibleLine(`  ${file}: taken for ${kindName(kind)}`)),
    ),
  ].join('\n');
}
