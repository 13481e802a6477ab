import { CLAIM_KINDS, FACT_TITLES, factText, saysSomething } from '../core/evidence/verdict-words.js';
import { visibleText } from '../core/evidence/visible-text.js';
import type { Claim, Facts } from '../core/verify/claim.js';
import { asSentence } from './as-sentence.js';
import { Code, EvidenceText } from './evidence-text.js';
import { known, memberOf, textOf } from './json-members.js';
import { Moment } from './moment.js';
import type { Operation } from './operations.js';
import { Preformatted } from './preformatted.js';
import { ProofPath } from './proof-path.js';
import { TEXTS } from './texts.js';

const TIMES: readonly (keyof Facts)[] = ['accepted', 'committed', 'declared'];
const CODES: readonly (keyof Facts)[] = ['vcon', 'payload_hash', 'identity', 'subject', 'tenancy'];
/** Shown of an operation at once; the rest is behind a click. */
const FIRST: readonly (keyof Facts)[] = ['accepted', 'principal', 'created_by', 'tenancy', 'vcon', 'payload_hash'];

function FactValue({ name, value }: { readonly name: keyof Facts; readonly value: unknown }) {
  if (TIMES.includes(name)) return <Moment time={String(value)} />;
  if (CODES.includes(name)) return <Code text={String(value)} />;
  return <EvidenceText text={factText(name, value)} />;
}

function FactList({ facts, names }: { readonly facts: Facts; readonly names: readonly (keyof Facts)[] }) {
  const shown = names.filter((name) => saysSomething(facts[name]));
  return (
    <dl class="facts">
      {shown.map((name) => (
        <div key={name}>
          <dt>{TEXTS.facts[name] ?? name.replaceAll('_', ' ')}</dt>
          <dd>
            <FactValue name={name} value={facts[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What proves a claim, and every member that is proven, behind a click. */
function Proofs({ claims }: { readonly claims: readonly Claim[] }) {
  return (
    <details>
      <summary>{TEXTS.proof}</summary>
      {claims.map((claim) => (
        <div key={claim.kind + claim.piece} class="proof">
          <p>
            <EvidenceText text={`${claim.piece}: ${CLAIM_KINDS[claim.kind]}`} />
          </p>
          <ProofPath claim={claim} />
          <details>
            <summary>{TEXTS.allFacts}</summary>
            <AllFacts facts={claim.facts} />
          </details>
        </div>
      ))}
    </details>
  );
}

/** Every proven member. */
export function AllFacts({ facts }: { readonly facts: Facts }) {
  const { members, ...named } = facts;
  const titled = FACT_TITLES.map(([name]) => name).filter((name) => Object.hasOwn(named, name));
  const others = (Object.keys(named) as (keyof Facts)[]).filter((name) => !titled.includes(name));
  return (
    <>
      <FactList facts={named} names={[...titled, ...others]} />
      {members && <Preformatted>{visibleText(JSON.stringify(members, null, 2))}</Preformatted>}
    </>
  );
}

/** How a person calls an operation. */
export function operationName(operation: string | undefined): string {
  if (operation === undefined) return TEXTS.noOperation;
  const known = Object.hasOwn(TEXTS.operationNames, operation) ? TEXTS.operationNames[operation] : undefined;
  return known ?? operation.replace(/^vcon_/, '').replaceAll('_', ' ');
}

/** How a person calls what is proven of an operation, or of another event. The name of its type is a caller's own. */
export function titleOfFacts({ operation, members }: Facts): string {
  if (operation !== undefined) return operationName(operation);
  return known(TEXTS.eventKinds, members?.['operation']) ?? TEXTS.noOperation;
}

/** What an event that is no operation is about, in the words of who recorded it. */
export function EventWords({ facts: { operation, members } }: { readonly facts: Facts }) {
  const attributes = memberOf(members, 'event_attributes') ?? memberOf(members, 'attributes');
  const words = [
    [TEXTS.eventType, memberOf(attributes, 'arc_display_type')],
    [TEXTS.assetName, memberOf(memberOf(members, 'asset_attributes'), 'arc_display_name')],
  ] as const;
  const said = words.filter(([, value]) => typeof value === 'string' && value !== '');
  if (operation !== undefined || said.length === 0) return null;
  return (
    <dl class="facts">
      {said.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <EvidenceText text={textOf(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** One operation: what, when, who, which bytes, and the proof. */
export function OperationView({ operation }: { readonly operation: Operation }) {
  const { facts, claims } = operation;
  return (
    <li class="operation">
      <h4>
        <EvidenceText text={titleOfFacts(facts)} />
      </h4>
      <EventWords facts={facts} />
      <FactList facts={facts} names={facts.accepted === undefined ? ['committed', ...FIRST] : FIRST} />
      <Proofs claims={claims} />
    </li>
  );
}

/** What claims about a log, its witnesses or an asset say, all of them the same. */
export function ClaimView({ claims }: { readonly claims: readonly Claim[] }) {
  const claim = claims[0]!;
  const names = FACT_TITLES.map(([name]) => name);
  return (
    <li class="operation">
      <h4>{asSentence(CLAIM_KINDS[claim.kind])}</h4>
      <WitnessNames claim={claim} />
      <FactList facts={claim.facts} names={names} />
      {claims.map(({ piece }) => (
        <p key={piece} class="detail">
          {TEXTS.piece} <Code text={piece} />
        </p>
      ))}
      <Proofs claims={claims} />
    </li>
  );
}

function WitnessNames({ claim }: { readonly claim: Claim }) {
  const names = claim.by.flatMap((proof) => (proof.type === 'witness' ? proof.witnesses : []));
  if (names.length === 0) return null;
  return (
    <p>
      <EvidenceText text={names.join(', ')} />
    </p>
  );
}
