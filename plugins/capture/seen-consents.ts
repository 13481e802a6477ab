import type { Fields } from '../memory/memory.js';
import type { Consent } from '../operation/consent.js';
import { type ConsentChange, consentChanges, consentName, moved } from '../operation/consent-changes.js';
import type { Ended } from './ended.js';

/** The newest state that shows consents. */
interface NewestState {
  /** Its capture, without the consents. */
  readonly ended: Ended;
  /** The fields by which a later capture is compared with it. */
  readonly place: Fields;
}

/** What is remembered of a vCon's consents, as fields under its name in `vcons`. */
export interface SeenConsents {
  /** Undefined if no state of the vCon was seen. */
  readonly consents: readonly Consent[] | undefined;
  /** The names of those that earlier states had. */
  readonly past: readonly string[];
  /** The number of changes: a change back to an earlier state is a new change. */
  readonly changes: number;
  /** The state that has these consents; undefined if it is not known. */
  readonly newest: NewestState | undefined;
}

/** Versions before this field leave it as it is: it holds only while no other capture is the last. */
function newestOf({ consents_state: text, sequence }: Fields): NewestState | undefined {
  if (text === undefined) return undefined;
  const { last, ...newest } = JSON.parse(text) as NewestState & { readonly last: string };
  return last === sequence ? newest : undefined;
}

export function seenConsents(fields: Fields): SeenConsents {
  return {
    consents: fields['consents'] ? (JSON.parse(fields['consents']) as Consent[]) : undefined,
    past: fields['past_consents'] ? (JSON.parse(fields['past_consents']) as string[]) : [],
    changes: Number(fields['consent_changes'] ?? 0),
    newest: newestOf(fields),
  };
}

const MOST_PAST = 1_000;

/** The names of consents that states before this one had, the newest last. */
function pastOf(before: readonly Consent[], now: readonly Consent[], past: readonly string[]): string {
  const there = new Set(now.map(consentName));
  const names = [...new Set([...past, ...before.map(consentName)])].filter((name) => !there.has(name));
  return JSON.stringify(names.slice(-MOST_PAST));
}

/** Changes of consent as operations of their own. The reported operation may be the change itself. */
function consentOperations(ended: Ended, changes: readonly ConsentChange[], before: number): Ended[] {
  const { name, chain, link, tenancy } = ended.operation;
  const place = { ...(chain ? { chain } : {}), ...(link ? { link } : {}), ...(tenancy ? { tenancy } : {}) };
  const counts = new Map<string, number>();
  return changes
    .filter(({ operation }) => operation !== name)
    .map(({ operation, digest }) => {
      const change = `${operation} ${digest}`;
      const same = counts.get(change) ?? 0;
      counts.set(change, same + 1);
      const nonce = `${digest}.${before}${same === 0 ? '' : `.${same}`}`;
      return { ...ended, operation: { name: operation, ...place, nonce } };
    });
}

/** What a state changes of the consents that were seen. */
export interface ComparedConsents {
  readonly operations: readonly Ended[];
  /** What is to be remembered. */
  readonly fields: Readonly<Record<string, string>>;
}

function counted(
  operations: readonly Ended[],
  seen: SeenConsents,
  fields: ComparedConsents['fields'],
): ComparedConsents {
  const changes = operations.length > 0 ? { consent_changes: String(seen.changes + 1) } : {};
  return { operations, fields: { ...fields, ...changes } };
}

/**
 * Compares the consents of an older state with those of the newest: it may add some that were never seen. What the newest
 * lacks of these, it revoked. If the capture of the newest is not known, the next one revokes it.
 */
export function olderConsents(ended: Ended, seen: SeenConsents): ComparedConsents {
  const { consents: newest = [], past } = seen;
  const names = new Set([...past, ...newest.map(consentName)]);
  const fresh = moved(ended.vcon.consents ?? [], newest).filter((consent) => !names.has(consentName(consent)));
  const accepted = consentOperations(ended, consentChanges([], fresh), seen.changes);
  if (!seen.newest) return counted(accepted, seen, { consents: JSON.stringify([...fresh, ...newest]) });
  const gone = consentChanges(fresh, newest).filter(({ operation }) => operation === 'vcon_consent_revoked');
  const revoked = consentOperations(seen.newest.ended, gone, seen.changes);
  return counted([...accepted, ...revoked], seen, { past_consents: pastOf([...newest, ...fresh], newest, past) });
}

/**
 * Compares the consents of the newest state with those before it.
 * @param place the fields by which a later capture is compared with this one
 * @param last the sequence of the last capture, which may be a later one that shows no consents
 */
export function newestConsents(
  ended: Ended,
  seen: SeenConsents,
  { before, place, last }: { readonly before: readonly Consent[]; readonly place: Fields; readonly last: string },
): ComparedConsents {
  const { consents, ...vcon } = ended.vcon;
  // Those of the state before are the newest.
  if (!consents) {
    const fields = seen.newest ? { consents_state: JSON.stringify({ ...seen.newest, last }) } : {};
    return { operations: [], fields };
  }
  return counted(consentOperations(ended, consentChanges(before, consents), seen.changes), seen, {
    consents: JSON.stringify(consents),
    past_consents: pastOf(before, consents, seen.past),
    consents_state: JSON.stringify({ ended: { ...ended, vcon }, place, last }),
  });
}
