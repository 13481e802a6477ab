import { setTimeout as wait } from 'node:timers/promises';
import { eventLeaf, parseEventDocument, VerificationError, verifyMmrReceipt } from '../../src/core/index.js';
import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { proof, type ServiceUnderTest } from './service-under-test.js';
import { randomSample } from './statistics.js';

const COMMITTED_WITHIN_MS = 60_000;
const FETCHED_AT_ONCE = 16;

/** What became of the posts that were answered with success. */
export interface PostCheck {
  readonly accepted: number;
  /** Found in the list of events, with their place in the log. */
  readonly committed: ReadonlySet<string>;
  /** Accepted and not found: must be empty. */
  readonly lost: readonly string[];
  /** Listed under two identities: must be empty. */
  readonly doubled: readonly string[];
  readonly receiptsVerified: number;
  /** Posts whose receipt is missing or does not verify: must be empty. */
  readonly receiptsRefused: readonly string[];
  /** Of each round of fetching receipts. */
  readonly receiptsPerSecond: readonly number[];
}

type Listed = Readonly<Record<string, unknown>> & {
  readonly identity: string;
  readonly event_attributes: Readonly<Record<string, unknown>>;
  readonly merklelog_entry: { readonly commit: unknown };
};

/**
 * Looks for every accepted post in the service's list of events, and verifies the receipts of as many of them, drawn at
 * random: the leaf is computed anew from the listed event, and the receipt must prove it with a published key.
 */
export async function checkPosts(
  service: ServiceUnderTest,
  accepted: readonly string[],
  plan: { readonly verifiedReceipts: number; readonly rounds: number },
): Promise<PostCheck> {
  const { events, doubled } = await committedEvents(service, accepted);
  const found = accepted.filter((identity) => events.has(identity));
  const sample = randomSample(found, plan.verifiedReceipts);
  const receiptsPerSecond: number[] = [];
  const receiptsRefused: string[] = [];
  const size = Math.ceil(sample.length / plan.rounds);
  for (let round = 0; round < plan.rounds && size > 0; round += 1) {
    const part = sample.slice(round * size, (round + 1) * size);
    const { receipts, perSecond } = await fetchReceipts(service, part);
    receiptsPerSecond.push(perSecond);
    for (const identity of part)
      if (!(await verifies(service, events.get(identity)!, receipts.get(identity)))) receiptsRefused.push(identity);
  }
  return {
    accepted: accepted.length,
    committed: new Set(found),
    lost: accepted.filter((identity) => !events.has(identity)),
    doubled,
    receiptsVerified: sample.length - receiptsRefused.length,
    receiptsRefused,
    receiptsPerSecond,
  };
}

/** Lists until every accepted post has its place in the log, or until it is clear that some never will. */
async function committedEvents(service: ServiceUnderTest, accepted: readonly string[]) {
  const until = Date.now() + COMMITTED_WITHIN_MS;
  for (;;) {
    const listed = await listEvents(service);
    const events = new Map(
      listed.filter((event) => event.merklelog_entry.commit).map((event) => [event.identity, event]),
    );
    if (accepted.every((identity) => events.has(identity)) || Date.now() > until) {
      return { events, doubled: doubledEvents(listed) };
    }
    await wait(500);
  }
}

/** Every post has a payload of its own: events with the same one were made of one post. */
function doubledEvents(listed: readonly Listed[]): string[] {
  const payloads = new Set<unknown>();
  return listed.flatMap(({ identity, event_attributes: attributes }) => {
    const { payload } = attributes;
    if (payload === undefined || payloads.size < payloads.add(payload).size) return [];
    return [identity];
  });
}

async function listEvents({ reader, headers }: ServiceUnderTest): Promise<Listed[]> {
  const events: Listed[] = [];
  let token = '';
  do {
    const query = `page_size=1000${token && `&page_token=${encodeURIComponent(token)}`}`;
    const page = await reader.json(`/archivist/v2/assets/-/events?${query}`, headers);
    const { events: more, next_page_token: next } = page as { events: Listed[]; next_page_token: string };
    events.push(...more);
    token = next;
  } while (token);
  return events;
}

async function fetchReceipts(service: ServiceUnderTest, identities: readonly string[]) {
  const receipts = new Map<string, Uint8Array | undefined>();
  const waiting = [...identities];
  const begun = performance.now();
  const fetchAll = async (): Promise<void> => {
    for (let identity = waiting.pop(); identity; identity = waiting.pop())
      receipts.set(identity, await proof(service, identity, 'receipt'));
  };
  await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, fetchAll));
  return { receipts, perSecond: identities.length / ((performance.now() - begun) / 1000) };
}

async function verifies(service: ServiceUnderTest, event: Listed, receipt: Uint8Array | undefined): Promise<boolean> {
  if (!receipt) return false;
  try {
    const { leaf, mmrIndex } = eventLeaf(parseEventDocument(JSON.stringify(event)));
    await verifyMmrReceipt(receipt, leaf, { logKeys: service.logKeys, mmrIndex, verifySignature: nodeVerify });
    return true;
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}
