import { ApiError } from '../platform/errors.js';

/** Why a statement is refused, in the terms of the SCRAPI draft: the titles of its problem details. */
type RefusalTitle =
  | 'Malformed request'
  | 'Bad Signature Algorithm'
  | 'Confirmation Missing'
  | 'Payload Missing'
  | 'Rejected'
  | 'Invalid locator';

/** The registration policy or the decoder refuses a statement, or a request about one: 400. */
export class StatementRefused extends ApiError {
  readonly title: RefusalTitle;

  constructor(title: RefusalTitle, description: string) {
    super('bad_request', description);
    this.title = title;
  }
}
