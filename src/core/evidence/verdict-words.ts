import { isIssuerOfService } from '../statement/issuer-did.js';
import type { Claim, Facts, KeyId, NamedLog, Proof } from '../verify/claim.js';
import { type DocumentForm, describeForm } from '../verify/match-document.js';
import type { NotCoveredReason } from '../verify/verdict.js';
import { asciiText } from './visible-text.js';

/** What a claim is about, in words. */
export const CLAIM_KINDS: Readonly<Record<Claim['kind'], string>> = {
  statement: 'a statement, signed by its issuer',
  event: 'an event that a log holds',
  entry: 'an entry that a log holds; its signer was not checked',
  document: 'a document that the evidence is about',
  log: 'the files of a log',
  extension: 'a log that extends its older state',
  public_asset: 'a public asset, as these events made it',
  witnessed: 'a log state that witnesses have cosigned',
};

/** The most important facts first; the JSON has every other member. */
export const FACT_TITLES: readonly (readonly [name: keyof Facts, title: string])[] = [
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

/** Returns whether a fact is worth showing. The type of an event, for example, may be the empty text. */
export const saysSomething = (value: unknown): boolean => value !== undefined && value !== '';

function principalText(value: unknown): string {
  const { display_name: name, email, subject } = value as Readonly<Record<string, unknown>>;
  const texts = [name, email, subject].filter((each) => typeof each === 'string' && each !== '');
  return texts.length === 0 ? JSON.stringify(value) : texts.join(' · ');
}

/** Returns a fact as text. */
export function factText(name: keyof Facts, value: unknown): string {
  if (name === 'principal') return principalText(value);
  if (name === 'form') return describeForm(value as DocumentForm);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const keyText = ({ thumbprint }: KeyId): string => `key ${thumbprint.slice(0, 16)}…`;

/** Returns the name of a key with its whole thumbprint, for a report. */
export const wholeKeyText = ({ thumbprint }: KeyId): string => `key ${thumbprint}`;

const logText = ({ issuer, subject }: NamedLog): string => `log "${subject ?? ''}" of ${issuer ?? 'an unnamed issuer'}`;

/** Returns what proves a claim, in one line. */
export function proofText(proof: Proof, nameKey: (key: KeyId) => string = keyText): string {
  switch (proof.type) {
    case 'signature':
      return `signature of ${proof.issuer ?? 'an unnamed issuer'}, ${nameKey(proof.key)}`;
    case 'inclusion': {
      const { log, leaf_index: index, tree_size: size, key } = proof;
      const of = size === undefined ? '' : proof.vds === 1 ? ` of ${size} entries` : ` under a seal over ${size} nodes`;
      const place = index === undefined ? '' : `, index ${index}${of}`;
      const open = index === undefined ? '; its position is not proven' : '';
      return `${logText(log)}${place}, ${nameKey(key)}${open}`;
    }
    case 'seal':
      return `seal over ${proof.tree_size} nodes of ${proof.sealed_at}, ${logText(proof.log)}, ${nameKey(proof.key)}`;
    case 'witness':
      return `witnesses ${proof.witnesses.join(', ')}: entry ${proof.leaf_index} of ${proof.tree_size} in "${proof.origin}"`;
    case 'digest':
      return proof.member === 'members' ? `attached to ${proof.of}` : `the ${proof.member} of ${proof.of}`;
  }
}

const MOST_SPEAKERS = 3;
/** Longer than the names that services give. */
const MOST_OF_NAME = 200;

/**
 * A tenancy is known by its uuid and its service: anyone can end an issuer's name, or write into a log, with the uuid of
 * another one's tenancy.
 */
function speaker({ kind, facts: { tenancy, issuer }, by }: Claim): string[] {
  if (kind !== 'statement' && kind !== 'event') return [];
  const services = by.flatMap((proof) => (proof.type === 'inclusion' ? (proof.log.issuer ?? []) : []));
  const service = kind === 'event' ? services[0] : services.find((each) => isIssuerOfService(issuer, each));
  if (tenancy !== undefined && service !== undefined) return [`tenancy ${tenancy} of ${service}`];
  if (issuer !== undefined) return [quoted(issuer)];
  return [tenancy === undefined ? 'an unnamed issuer' : `tenancy ${tenancy}`];
}

/** An issuer chooses its name: it must not read as words of the verdict, or as another name in other letters. */
function quoted(name: string): string {
  const short = name.length > MOST_OF_NAME ? `${name.slice(0, MOST_OF_NAME)}…` : name;
  return `“${asciiText(short)}”`;
}

/** Returns a sentence with the parties that recorded the facts. It comes first, because anyone can make a statement. */
export function speakers(claims: readonly Claim[]): string {
  const named = claims.flatMap(speaker);
  const distinct = [...new Set(named)];
  if (distinct.length === 0) return '';
  const more = distinct.length - MOST_SPEAKERS;
  const others = more <= 0 ? '' : more === 1 ? ' and one other' : ` and ${more} others`;
  return `This is what ${distinct.slice(0, MOST_SPEAKERS).join(' and ')}${others} recorded.`;
}

/** The sentence above remarks about times, and what they mean for a person. */
export const TIMES_DIFFER = 'Times of the log contradict each other.';
export const TIMES_MEANING =
  'A clock was wrong, or a time was made up. The rest of the evidence is as proven as before; do not rely on these times.';

/** Why nothing covers a piece or a member, for a person. */
export const NOT_COVERED: Readonly<Record<NotCoveredReason, string>> = {
  unproven: 'NOT PROVEN',
  by_design: 'covered by no log',
  explanation: 'not evidence',
};
