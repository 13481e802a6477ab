import { VerificationError } from '../errors.js';
import type { EventDocument } from '../statement/event-document.js';
import { isIssuerOfService, tenancyOfIssuer } from '../statement/issuer-did.js';
import { tenancyOfEvent } from './event-facts.js';
import { statementOfEvent } from './event-of-statement.js';
import { type IssuerPin, pinText } from './trust.js';
import { contradiction, type Findings, missing, notCovered } from './verdict.js';

/**
 * Checks a proven event that has no statement beside it against the pinned issuer. Any tenancy of a service can record
 * any hash, so the event must belong to the tenancy that the issuer's DID names. An event that was made from a
 * registered statement may belong to another tenancy; then that statement says who issued it. If a statement is beside
 * the event, the statement is checked against the pin, and the event against the statement.
 * @param pin undefined if the caller pinned no issuer
 * @param logIssuer who signs for the event's log; undefined if the log does not say that
 * @param isSpoken whether the signature of this entry, a statement, was checked
 */
export function eventIssuerFindings(
  piece: string,
  event: EventDocument,
  pin: IssuerPin | undefined,
  logIssuer: string | undefined,
  isSpoken: (entry: Uint8Array) => boolean = () => false,
): Partial<Findings> {
  const made = statementOfEvent(event, logIssuer);
  if (made && isSpoken(made.entry)) return {};
  const tenancy = tenancyOfEvent(event);
  if (pin === undefined)
    return missing('issuer', `no issuer was pinned: an event of any tenancy passes. This one is of tenancy ${tenancy}`);
  const names = [pin].flat();
  const own = names.filter((name) => tenancyOfIssuer(name) === tenancy);
  if (own.length > 0) {
    if (own.some((name) => isIssuerOfService(name, logIssuer))) return {};
    if (logIssuer === undefined)
      return notCovered(
        piece,
        'unproven',
        'its log does not say of which service it is, and anybody can name a tenancy',
      );
    const why = `its log is of ${logIssuer}, which is not the service of the issuer ${pinText(pin)}`;
    return notCovered(piece, 'unproven', `${why}; if that service has moved, pin its other name too`);
  }
  if (made?.issuer !== undefined && names.includes(made.issuer))
    return notCovered(piece, 'unproven', `the signature of the statement that it was made from was not checked`);
  const why = `the event is of tenancy ${tenancy}, and was not recorded by the issuer ${pinText(pin)}`;
  return contradiction(piece, new VerificationError('issuer_key_not_trusted', why));
}
