import type { RichnessAssertion, RichnessOperator } from '../archivist/compliance/richness-assertion.js';

/** The words of the console, beside those that it shares with the other pages (texts.ts). */
export const CONSOLE_TEXTS = {
  title: 'Find a conversation',
  introduction: 'Search the records, see what happened to a conversation, and check it here in your browser.',
  loading: 'Loading …',
  signedOut: 'You are not signed in',
  signedOutHelp: 'Sign in with your organisation’s account. Then this page shows what you may see.',
  expired: 'Your sign-in has ended. Sign in again to go on: this page keeps its address.',
  signIn: 'Sign in',
  signedInAs: (name: string) => `Signed in as ${name}`,
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere',
  notSignedOut: (why: string) => `You may still be signed in. ${why}`,
  noScript: 'The console needs JavaScript.',
  away: 'The service cannot be reached. Check your network, then try again.',
  answered: (status: number) =>
    status < 500
      ? `The service refused the request with status ${status}.`
      : `The service could not answer (status ${status}). Try again in a moment.`,
  partly:
    'You are not an Owner: your access policies decide what you see here. There may be events that are hidden from you.',
  search: 'Search',
  searchHelp:
    'A conversation’s id, the SHA-256 of a file, the identity of a statement or an asset, an asset’s name, a call id, the trail or type of an event without an asset, or labels such as conserver_chain=main. Or drop the conversation file on this page: it is hashed here and not uploaded.',
  chooseFile: 'Choose a file',
  dropHere: 'Drop the file to find it',
  filters: 'Filters',
  operation: 'Operation',
  all: 'All',
  since: 'From',
  until: 'To',
  status: 'Status',
  chain: 'Chain',
  link: 'Link',
  partner: 'Partner',
  namesHelp:
    'Write the names of chains, links and partners in full, as the conserver calls them. The names in the results are offered.',
  results: 'Results',
  busy: 'Searching …',
  found: (count: number, isAll: boolean) =>
    isAll
      ? count === 1
        ? '1 event, the newest first'
        : `${count} events, the newest first`
      : `The newest ${count} events`,
  nothing:
    'Nothing was found. Ids, hashes, names and labels must be complete. A conserver’s events have no telephone numbers: find a call by its id or its file.',
  nothingYet: 'There are no events that you may see.',
  more: 'Show more',
  moreFailed: (why: string) => `No more events could be read. ${why}`,
  forFile: (name: string) => `Events about ${name}`,
  removeFile: 'Search for something else',
  fileHash: 'Hash of the file (SHA-256)',
  fileUnknown: (name: string) => `No event that you may see is about the bytes of ${name}.`,
  fileKnownId:
    'The file says that it is a conversation that may have records about other bytes. It may have been changed.',
  seeConversation: 'See that conversation',
  hash: 'Hash of the file',
  subject: 'Conversation',
  back: 'Back to the search',
  places: {
    conversation: 'A conversation and its evidence',
    asset: 'An asset and its evidence',
    event: 'An event and its evidence',
  },
  placeHelp: 'What happened, as the service shows it, and the check of its proof, here in your browser.',
  conversation: 'Conversation',
  asset: 'Asset',
  event: 'Event',
  asItWas: 'as it was at',
  timeline: 'What happened',
  timelineHelp: 'Oldest first. This is what the service shows; nothing of it is checked yet.',
  timelineChecked: 'Oldest first. This is what the service shows; the result above says what is proven.',
  events: (count: number) => (count === 1 ? '1 event' : `${count} events`),
  reading: (count: number) =>
    count === 1 ? 'The newest event. Others are being read …' : `The newest ${count} events. Others are being read …`,
  tooMany: (count: number) => `Only the newest ${count} events are shown.`,
  notFound: 'There is nothing under this address that you may see.',
  hiddenTitle: 'Hidden from you',
  successor: 'another conversation of the same history',
  saveEvidence: 'Save the evidence',
  wholeAsset: 'All events of the asset',
  publicPage: 'Public page',
  publicPageHelp: 'Anybody may read and check this asset, without an account.',
  openPublicPage: (name: string) => (name === '' ? 'Open its public page' : `Open the public page of “${name}”`),
  copyAddress: 'Copy the address',
  stateHelp: 'This is what the service shows. The check of the evidence compares it with the proven events.',
  attributesPiece: 'attributes of the asset',
  attributesOfPart: 'the evidence of one of its events, or more, is not there',
  attributesDiffer: (why: string) => `${why}. If somebody has just recorded an event, load the page again`,
  attachments: 'Attachments',
  attachment: (name: string) => `Open ${name}`,
  check: 'Check the evidence',
  checkHelp: 'Fetches the evidence of every event on this page and checks it here, in your browser.',
  checkFile: (name: string) => `Your file ${name} is checked too.`,
  addFile: 'Check your copy of the file too',
  fetched: (done: number, all: number) => `Evidence ${done} of ${all} fetched`,
  hiddenEvidence: (why: string) =>
    `your access policy shows you only a part of it, so the service gives you no evidence. ${why}`,
  lateEvidence: 'the log has not sealed it yet; check again in a moment',
  noEvidence: (why: string) => `the service has no evidence of it. ${why}`,
  withoutEvent: 'what the service sent as its evidence does not contain this event',
  differs: 'the page showed another value than the evidence has',
  pages: 'Pages',
  views: {
    find: 'Find',
    compliance: 'Compliance',
    applications: 'Applications',
    access: 'Access',
    people: 'People',
    audit: 'Security audit',
    webhooks: 'Webhooks',
    service: 'Service',
  },
  forOwners: 'This page is for Owners.',
  actions: 'Actions',
  moreRows: (count: number) => (count === 1 ? 'Show 1 more' : `Show more (${countText(count)} left)`),
  saveTable: (count: number) => (count === 1 ? 'Save as CSV (1 row)' : `Save as CSV (${countText(count)} rows)`),
  compliance: {
    title: 'Compliance',
    introduction: 'What your policies require, what is outstanding, and since when.',
    policies: 'Policies',
    noPolicies: 'There are no compliance policies yet. Owners create them with the API.',
    all: 'All policies',
    noPolicy: 'The policy of this address does not exist',
    policy: 'Policy',
    rule: 'Rule',
    assets: 'Assets',
    outstanding: 'Outstanding',
    oldest: 'Outstanding since',
    asset: 'Asset',
    verdict: 'Verdict',
    reason: 'Reason',
    since: 'Since',
    sinceUnknown: 'not known',
    notSince: '–',
    yes: 'Compliant',
    no: 'Outstanding',
    show: 'Show',
    onlyOutstanding: 'What is outstanding',
    everything: 'All assets',
    nothing: (isWhole: boolean) =>
      isWhole ? 'Nothing is outstanding.' : 'Nothing is outstanding among the assets looked at so far.',
    noAssets: (isWhole: boolean) =>
      isWhole
        ? 'This policy applies to no asset that you may see.'
        : 'This policy applies to no asset looked at so far.',
    overTime: 'Over time',
    overTimeHelp:
      'How many assets were outstanding under at least one policy at the end of each step, from the events accepted until then.',
    leftOut:
      'Policies about attributes are not counted here: their verdict is about the current attributes, and has no history.',
    noHistory: 'A policy about attributes has no history here: its verdict is about the current attributes.',
    step: 'Step',
    steps: { day: '14 days', week: '12 weeks', month: '12 months' },
    until: 'Until',
    count: 'Outstanding assets',
    made: 'These verdicts are made in your browser, from the events that you may see, by the rules that the service uses. The page of an asset shows the verdict of the service.',
    allLookedAt: (assets: number) => `All assets that you may see were looked at: ${countText(assets)}.`,
    lookedAt: (assets: number, events: number) =>
      `Looked at so far: ${newestAssets(assets)}. Events read: ${countText(events)}, of the types that policies name. There is more.`,
    waiting: (assets: number) =>
      assets === 1
        ? '1 more asset is looked at as soon as all of its events are read.'
        : `${countText(assets)} more assets are looked at as soon as all of their events are read.`,
    covers: 'Every number, table and CSV file below covers only what was looked at so far.',
    further: 'Look further back',
    ofAsset: 'Compliance',
    ofService: 'This is the verdict of the service. The check of the evidence does not cover it.',
    ofAssetThen: 'Compliance then, under the current policies',
    isCompliant: 'Compliant with every policy that applies',
    isOutstanding: 'Not compliant',
  },
} as const;

/** A number as a person reads it. */
export const countText = (count: number): string => count.toLocaleString('en');

function newestAssets(count: number): string {
  if (count === 0) return 'no asset yet';
  return count === 1 ? 'the newest asset' : `the newest ${countText(count)} assets`;
}

/** What a compliance policy demands, in a sentence. */
export const RULES = {
  COMPLIANCE_SINCE: ({ opening, period }: RuleWords) => `“${opening}” at least every ${period}`,
  COMPLIANCE_CURRENT_OUTSTANDING: ({ opening, closing }: RuleWords) => `Each “${opening}” has its “${closing}”`,
  COMPLIANCE_PERIOD_OUTSTANDING: ({ opening, closing, period }: RuleWords) =>
    `Each “${opening}” has its “${closing}” within ${period}`,
  COMPLIANCE_DYNAMIC_TOLERANCE: ({ opening, closing, deviations, window }: RuleWords) =>
    `From “${opening}” to “${closing}”, no longer than usual in the last ${window} (${deviations} standard deviations)`,
  COMPLIANCE_RICHNESS: ({ assertions }: RuleWords) => `On the asset, ${assertions}`,
} as const;

interface RuleWords {
  readonly opening: string;
  readonly closing: string;
  readonly period: string;
  readonly window: string;
  readonly deviations: number;
  readonly assertions: string;
}

/** Words between the parts of an attribute filter. */
export const FILTER_WORDS = { and: ' and ', or: ' or ' } as const;

/** Conditions that must all hold, each with its alternatives. Brackets keep alternatives together beside others. */
export function conditionsText(conditions: readonly (readonly string[])[]): string {
  const texts = conditions.map((any) => {
    const text = any.join(FILTER_WORDS.or);
    return any.length > 1 && conditions.length > 1 ? `(${text})` : text;
  });
  return texts.join(FILTER_WORDS.and);
}

/** What a policy demands of an attribute, by its operator. */
const DEMANDS: Readonly<Record<RichnessOperator, string>> = {
  '=': 'is',
  '!=': 'is not',
  '>': 'is more than',
  '<': 'is less than',
  '>=': 'is at least',
  '<=': 'is at most',
};

/** An assertion of a compliance policy in words. */
export function assertionText({ name, operator, value }: RichnessAssertion): string {
  return `“${name}” ${DEMANDS[operator]} ${value === '' ? 'empty' : `“${value}”`}`;
}

/** A duration as a person says it, if it is whole days, hours or minutes. */
export function durationText(seconds: number): string {
  const [unit, name] = UNITS.find(([each]) => seconds >= each && seconds % each === 0) ?? [1, 'second'];
  const count = seconds / unit;
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Statuses of an event, as a filter offers them. */
export const STATUS_NAMES: Readonly<Record<string, string>> = {
  STORED: 'Stored, not in the log yet',
  COMMITTED: 'In the log, not sealed yet',
  CONFIRMED: 'In the log and sealed',
  UNEQUIVOCAL: 'Sealed and cosigned by witnesses',
};
