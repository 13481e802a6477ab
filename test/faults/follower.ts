import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { readMmrReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { readRfc9162Receipt } from '../../src/core/receipt/rfc9162-receipt.js';
import { readTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { rfc9162ReceiptRoot } from '../../src/core/verify/verify-receipt.js';
import { examineTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import type { Deployment } from './deployment.js';
import { FollowedLog, type Trust } from './followed-log.js';
import { type Entry, isPublic, type Journal, sideBySide, until } from './journal.js';

const CONFIRMED_WITHIN_MS = 150_000;
/** The second holds the statement, its receipt in the statement log, and the first in the draft's form. */
const STATEMENT = 'transparent-statement';
const PROOFS = ['receipt', STATEMENT];

/**
 * Someone who holds the service to its word: keeps every proof, seal and log state that he has ever fetched, outside the
 * service, and fails the test on anything that does not go together with what he has.
 */
export class Follower {
  readonly #deployment: Deployment;
  readonly #journal: Journal;
  readonly #leaves: 'exactly' | 'at least';
  /** Bytes that may never change, by where they were found. */
  readonly #fixed = new Map<string, string>();
  /** The entry at each place of each log, and the root of each size of the statement logs. */
  readonly #places = new Map<string, string>();
  readonly #logs = new Map<string, FollowedLog>();

  /** @param leaves whether the journal knows of every entry of the logs */
  constructor(deployment: Deployment, journal: Journal, leaves: 'exactly' | 'at least' = 'exactly') {
    this.#deployment = deployment;
    this.#journal = journal;
    this.#leaves = leaves;
  }

  /** What is fetched twice is the same twice. */
  #fix(name: string, value: string): void {
    const known = this.#fixed.get(name) ?? value;
    expect(`${name} ${value}`).toBe(`${name} ${known}`);
    this.#fixed.set(name, value);
  }

  /** What is told of one place is the same whoever is asked. */
  #place(name: string, value: string): void {
    const known = this.#places.get(name) ?? value;
    expect(`${name}: ${value}`).toBe(`${name}: ${known}`);
    this.#places.set(name, value);
  }

  /**
   * Everything: what was acknowledged is there once and proven, what was proven before still is, and no log forked.
   * @param again how many of the events that were proven before are looked at again
   */
  async audit(url: string, again = Number.POSITIVE_INFINITY): Promise<void> {
    await this.everyEventOnce(url);
    const trust = await this.#trust(url);
    const [known, fresh] = [[] as Entry[], [] as Entry[]];
    for (const entry of this.#journal.acknowledged) (this.#fixed.has(entry.read!) ? known : fresh).push(entry);
    // One question at a time: the embedded database has one connection, and the sequencers wait for it as well.
    for (const entry of fresh) await this.#waitConfirmed(url, entry);
    await sideBySide([...fresh, ...shuffled(known).slice(0, again)], (entry) => this.#auditEntry(url, entry, trust));
    await this.#auditLogs(url, trust);
    await this.auditSealObjects();
    await this.#noneHalted(url);
  }

  /** How many proofs were fetched, each of which may never change. */
  get proofs(): number {
    return [...this.#fixed.keys()].filter((name) => PROOFS.some((proof) => name.endsWith(`/${proof}`))).length;
  }

  /**
   * What can be seen at once after a crash: the newest acknowledged events are there, some proofs that were fetched before
   * are the same, some fresh ones are valid, each log continues what was seen of it, and none is halted. An audit checks
   * the rest.
   */
  async glance(url: string, newest: number, proofs: number): Promise<void> {
    const { acknowledged } = this.#journal;
    await sideBySide(acknowledged.slice(-newest), async ({ number, read }) => {
      const { status, json } = await this.#journal.get(url, read!);
      const attributes = (json['event_attributes'] ?? json['attributes']) as Record<string, string> | undefined;
      expect([read, status, attributes?.['number']]).toEqual([read, 200, String(number)]);
    });
    const trust = await this.#trust(url);
    const proven = shuffled([...this.#fixed.keys()].filter((name) => PROOFS.some((each) => name.endsWith(`/${each}`))));
    await sideBySide(proven.slice(0, proofs), async (path) => {
      const { status, bytes } = await this.#journal.get(url, path);
      this.#fix(path, status === 200 ? toHex(bytes) : `answered ${status}`);
    });
    const fresh = shuffled(acknowledged.filter(({ read }) => !this.#fixed.has(`${read}/${STATEMENT}`)));
    await sideBySide(fresh.slice(0, proofs), async ({ read }) => {
      const { status, bytes } = await this.#journal.get(url, `${read}/${STATEMENT}`);
      if (status !== 200) return;
      this.#fix(`${read}/${STATEMENT}`, toHex(bytes));
      await this.#verify(read!, bytes, trust);
    });
    for (const log of this.#logs.values()) await log.follow(url, trust);
    await this.#noneHalted(url);
  }

  async #noneHalted(url: string): Promise<void> {
    const health = await this.#journal.get(url, '/readyz');
    expect(JSON.stringify(health.json)).toContain(' halted logs: 0');
  }

  /** Each acknowledged asset event is listed once, and no create has made two. */
  async everyEventOnce(url: string): Promise<void> {
    const listed = (await this.#listEvents(url)).filter(({ number }) => number !== undefined);
    const numbers = listed.map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    const paths = new Map(listed.map(({ number, path }) => [number, path]));
    for (const { number, read } of this.#journal.acknowledged)
      if (read?.includes('/assets/')) expect([number, paths.get(String(number))]).toEqual([number, read]);
  }

  async #listEvents(url: string): Promise<{ number: string | undefined; path: string }[]> {
    const all: { number: string | undefined; path: string }[] = [];
    let query = 'page_size=500';
    for (;;) {
      const { status, json } = await this.#journal.get(url, `/archivist/v2/assets/-/events?${query}`);
      expect([200, 206]).toContain(status);
      for (const event of json['events'] as { identity: string; event_attributes: Record<string, string> }[])
        all.push({ number: event.event_attributes['number'], path: `/archivist/v2/${event.identity}` });
      if (!json['next_page_token']) return all;
      query = `page_token=${encodeURIComponent(String(json['next_page_token']))}`;
    }
  }

  async #trust(url: string): Promise<Trust> {
    const keys = await this.#journal.get(url, '/.well-known/scitt-keys');
    const did = await this.#journal.get(url, '/archivist/v1/didweb/did.json');
    const methods = did.json['verificationMethod'] as { publicKeyJwk: PublicJwk }[];
    return { logKeys: decodeCoseKeySet(keys.bytes), issuerKeys: methods.map(({ publicKeyJwk }) => publicKeyJwk) };
  }

  async #waitConfirmed(url: string, { read }: Entry): Promise<void> {
    await until(
      () => this.#journal.get(url, read!),
      ({ json }) => json['confirmation_status'] === 'CONFIRMED',
      CONFIRMED_WITHIN_MS,
    );
  }

  async #auditEntry(url: string, { number, read }: Entry, trust: Trust): Promise<void> {
    const { json } = await this.#journal.get(url, read!);
    // The chain may take an event up later; everything else is fixed from its confirmation on.
    this.#fix(read!, JSON.stringify({ ...json, transaction_id: '', block_number: 0, transaction_index: 0 }));
    await this.#auditProofs(url, read!, trust);
    if (isPublic(number)) await this.#auditProofs(url, read!.replace('/assets/', '/publicassets/'), trust);
  }

  async #auditProofs(url: string, read: string, trust: Trust): Promise<void> {
    for (const proof of PROOFS) {
      const path = `${read}/${proof}`;
      // The public form is another entry of other logs, which may be sealed a moment later.
      const { bytes } = await until(
        () => this.#journal.get(url, path),
        ({ status }) => status === 200,
        CONFIRMED_WITHIN_MS,
      );
      const known = this.#fixed.has(path);
      this.#fix(path, toHex(bytes));
      if (proof === STATEMENT && !known) await this.#verify(read, bytes, trust);
    }
  }

  async #verify(read: string, bytes: Uint8Array, trust: Trust): Promise<void> {
    const { outcome, claims } = await examineTransparentStatement(bytes, trust);
    // A recorded asset-free event has two claims: its record, and its leaf.
    expect([outcome, [...new Set(claims.map(({ kind }) => kind))]]).toEqual(['verified', ['statement', 'event']]);
    const { entry, receipts } = readTransparentStatement(bytes);
    const inStatementLog = readRfc9162Receipt(receipts[0]!.bytes);
    const { subject, treeSize, leafIndex } = inStatementLog;
    const root = toHex(rfc9162ReceiptRoot(inStatementLog, entry));
    this.#place(`root of ${subject} at ${treeSize}`, root);
    this.#place(`entry ${leafIndex} of ${subject}`, read.replace('/publicassets/', '/assets/'));
    const inTenancyLog = readMmrReceipt(receipts[1]!.bytes);
    this.#place(`node ${inTenancyLog.index} of ${inTenancyLog.subject}`, read);
    const log = inTenancyLog.subject!;
    if (!this.#logs.has(log)) this.#logs.set(log, new FollowedLog(log, read.includes('/publicassets/'), this.#journal));
  }

  async #auditLogs(url: string, trust: Trust): Promise<void> {
    const listed = await this.#listEvents(url);
    const assetFree = this.#journal.acknowledged.filter(({ read }) => read!.startsWith('/archivist/v1/'));
    // The public log has the public events and one more: that of the public asset's making.
    const shown = listed.filter(({ number }) => number !== undefined && isPublic(Number(number)));
    for (const log of this.#logs.values()) {
      const leaves = log.isPublicLog ? shown.length + 1 : listed.length + assetFree.length;
      const found = await log.follow(url, trust, 'from the first massif');
      if (this.#leaves === 'at least') expect([log.subject, found >= leaves]).toEqual([log.subject, true]);
      else expect([log.subject, found]).toEqual([log.subject, leaves]);
    }
  }

  /** Seals in the object store are numbered without a gap and never change. Resolves with how many there are. */
  async auditSealObjects(): Promise<number> {
    const folder = join(this.#deployment.objectsDir, 'seals');
    let count = 0;
    for (const log of await readdir(folder)) {
      const files = await readdir(join(folder, log));
      const numbers = files.filter((name) => /^\d+$/.test(name)).sort();
      expect(numbers.map(Number)).toEqual(numbers.map((_, index) => index + 1));
      for (const number of numbers) this.#fix(`${log}/${number}`, toHex(await readFile(join(folder, log, number))));
      count += numbers.length;
    }
    return count;
  }
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((each) => ({ each, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ each }) => each);
}
