import { ApiError } from '../platform/errors.js';

/** Why a statement is not taken, in the words of the SCRAPI draft; they are the titles of its problem details. */
export type RefusalTitle =
  | 'Malformed request'
  | 'Bad Signature Algorithm'
  | 'Confirmation Missing'
  | 'Payload Missing'
  | 'Rejected'
  | 'Invalid locator';

/** A statement, or a request about one, that the registration policy or the decoder refuses: 400. */
export class StatementRefused extends ApiError {
  readonly title: RefusalTitle;

  constructor(title: RefusalTitle, description: string) {
    super('bad_request', description);
    this.title = title;
  }
}
