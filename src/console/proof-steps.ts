import type { Claim, KeyId, NamedLog, Proof } from '../core/verify/claim.js';
import { type CoveredBytes, coveredBytes } from '../core/verify/covered-bytes.js';
import { TEXTS } from './texts.js';

/** One step of the way from a record to what vouches for it. */
export interface ProofStep {
  readonly title: string;
  /** Titles and values that the check compared. */
  readonly values: readonly (readonly [string, string])[];
  readonly covered?: {
    readonly title: string;
    /** Made when somebody looks. */
    read(): CoveredBytes;
  };
}

/** In which order the proofs of a claim lead outward: from the record to those who have seen its log. */
const ORDER: readonly Proof['type'][] = ['digest', 'signature', 'inclusion', 'seal', 'witness'];

/** The steps that a claim is proven by, the record first. */
export function stepsOf(claim: Claim): ProofStep[] {
  const proofs = claim.by.toSorted((left, right) => ORDER.indexOf(left.type) - ORDER.indexOf(right.type));
  return [recordOf(claim), ...proofs.flatMap(stepsOfProof)];
}

const words = TEXTS.path;

function recordOf({ piece, facts }: Claim): ProofStep {
  const values = (['identity', 'subject', 'payload_hash', 'payload_jcs_sha256'] as const).flatMap((name) => {
    const value = facts[name];
    return value === undefined ? [] : [[TEXTS.facts[name] ?? name, value] as const];
  });
  return { title: words.record, values: [[words.file, piece], ...values] };
}

function stepsOfProof(proof: Proof): ProofStep[] {
  const { leaf: hashed, signed: over } = coveredBytes(proof);
  const leafBytes = opening(words.hashedBytes, hashed);
  const signedBytes = opening(words.signedBytes, over);
  switch (proof.type) {
    case 'digest':
      return [
        {
          title: words.digest,
          values: [
            [words.file, proof.of],
            [words.member, proof.member],
          ],
        },
      ];
    case 'signature':
      return [{ title: words.signature(proof.issuer ?? words.unnamed), values: ofKey(proof.key), ...signedBytes }];
    case 'inclusion': {
      const { leaf, leaf_index: index, mmr_index: node, tree_size: size, signed, key, log } = proof;
      return [
        {
          title: index === undefined ? words.leaf(nameOf(log)) : words.entry(index, nameOf(log)),
          values: [[words.leafHash, leaf], ...given(words.node, node), ...ofLog(log)],
          ...leafBytes,
        },
        { title: words.signed[signed], values: [...given(words.size, size), ...ofKey(key)], ...signedBytes },
      ];
    }
    case 'seal': {
      const { sealed_at: time, tree_size: size, key, log } = proof;
      return [{ title: words.seal(time), values: [[words.size, size], ...ofLog(log), ...ofKey(key)], ...signedBytes }];
    }
    case 'witness': {
      const { witnesses, origin, leaf_index: index, tree_size: size } = proof;
      const values = [
        [words.origin, origin],
        [words.index, index],
        [words.size, size],
      ] as const;
      return [{ title: words.witness(witnesses.join(', ')), values, ...opening(words.checkpoint, over) }];
    }
  }
}

const opening = (title: string, read: (() => CoveredBytes) | undefined): Pick<ProofStep, 'covered'> =>
  read ? { covered: { title, read } } : {};

const nameOf = ({ subject, issuer }: NamedLog): string => subject ?? issuer ?? words.unnamed;

const given = (title: string, value: string | undefined): (readonly [string, string])[] =>
  value === undefined ? [] : [[title, value]];

const ofLog = ({ issuer, subject }: NamedLog) => [...given(words.log, subject), ...given(words.logIssuer, issuer)];

const ofKey = ({ thumbprint, kid }: KeyId) => [...given(words.key, thumbprint), ...given(words.keyId, kid)];
