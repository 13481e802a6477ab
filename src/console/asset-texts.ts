/** The words about an asset and its events. */
export const ASSET_TEXTS = {
  title: (name: string) => name || 'Public asset',
  introduction: 'A public record. Anybody may read it and check it, without an account.',
  loading: 'Loading …',
  history: 'History',
  attributes: 'Attributes now',
  /** Beside the attribute's own name, so that nobody can make an attribute that looks like one of these. */
  attributeNames: {
    arc_display_name: 'Name',
    arc_display_type: 'Type',
    arc_description: 'Description',
    subject: 'Conversation',
    call_id: 'Call',
    case_id: 'Case',
    partner: 'Partner',
  } as Readonly<Record<string, string>>,
  attributesThen: 'Attributes then',
  asItWas: 'The asset as it was at',
  asItWasHelp: 'It contains every event that was accepted until then; what came later is left out.',
  seeNow: 'See the asset as it is now',
  afterEvent: 'The asset after this event',
  events: (count: number) => (count === 1 ? '1 event, the newest first' : `${count} events, the newest first`),
  check: 'Check this asset',
  checkHelp: 'Fetches every event with its receipt and the service’s key list, and checks them here, in your browser.',
  source: 'The events as JSON',
  policyChanged: 'Access policy changed',
  name: 'Name of the asset',
  state: 'State',
  trails: 'Trails',
  members: 'All members',
  unanswered: (url: string) => `${url} does not answer`,
  states: {
    STORED: 'stored; the log has not taken it in yet',
    COMMITTED: 'in the log; not sealed yet',
    CONFIRMED: 'in the log, under its seal',
    UNEQUIVOCAL: 'in the log, under its seal; witnesses have cosigned',
  } as Readonly<Record<string, string>>,
  /** Beside the state; leads to the page of the logs, which checks their cosignatures. */
  whichWitnesses: 'see which witnesses',
  shown: 'What the service shows was not checked yet.',
  shownThen:
    'This is what the service shows. A check proves the events and the asset as it is now, not this past state.',
} as const;
