import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import { consistencyProofPaths } from '../../src/core/mmr/consistency-proof-paths.js';
import { consistentRoots } from '../../src/core/mmr/consistent-roots.js';
import { peaks as peakIndices } from '../../src/core/mmr/peaks.js';
import { readMmrReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { readRfc9162Receipt } from '../../src/core/receipt/rfc9162-receipt.js';
import { readTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { type RecomputedMassif, recomputeMassif } from '../../src/core/verify/verify-massif.js';
import { rfc9162ReceiptRoot } from '../../src/core/verify/verify-receipt.js';
import { verifySeal } from '../../src/core/verify/verify-seal.js';
import { examineTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import type { Deployment } from './deployment.js';
import { type Entry, isPublic, type Journal, sideBySide, until } from './journal.js';

const CONFIRMED_WITHIN_MS = 150_000;
/** The second holds the statement, its receipt in the statement log, and the first in the draft's form. */
const PROOFS = ['receipt', 'transparent-statement'];

interface Trust {
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

/** A tenancy log as it was when it was last read. */
interface LogState {
  readonly isPublicLog: boolean;
  readonly size: bigint;
  readonly peaks: readonly Uint8Array[];
}

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
  readonly #states = new Map<string, LogState>();

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
    const health = await this.#journal.get(url, '/readyz');
    expect(JSON.stringify(health.json)).toContain(' 0 logs halted');
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
      if (proof === 'transparent-statement' && !known) await this.#verify(read, bytes, trust);
    }
  }

  async #verify(read: string, bytes: Uint8Array, trust: Trust): Promise<void> {
    const { outcome, claims } = await examineTransparentStatement(bytes, trust);
    // A recorded asset-free event has two claims: its record, and its leaf.
    expect([outcome, [...new Set(claims.map(({ kind }) => kind))]]).toEqual(['verified', ['statement', 'event']]);
    const { entry, rfc9162Receipt, mmrReceipt } = readTransparentStatement(bytes);
    const inStatementLog = readRfc9162Receipt(rfc9162Receipt!);
    const { subject, treeSize, leafIndex } = inStatementLog;
    const root = toHex(rfc9162ReceiptRoot(inStatementLog, entry));
    this.#place(`root of ${subject} at ${treeSize}`, root);
    this.#place(`entry ${leafIndex} of ${subject}`, read.replace('/publicassets/', '/assets/'));
    const inTenancyLog = readMmrReceipt(mmrReceipt!);
    this.#place(`node ${inTenancyLog.index} of ${inTenancyLog.subject}`, read);
    const isPublicLog = read.includes('/publicassets/');
    if (!this.#states.has(inTenancyLog.subject!))
      this.#states.set(inTenancyLog.subject!, { isPublicLog, size: 0n, peaks: [] });
  }

  async #auditLogs(url: string, trust: Trust): Promise<void> {
    const listed = await this.#listEvents(url);
    const assetFree = this.#journal.acknowledged.filter(({ read }) => read!.startsWith('/archivist/v1/'));
    // The public log has the public events and one more: that of the public asset's making.
    const shown = listed.filter(({ number }) => number !== undefined && isPublic(Number(number)));
    for (const [subject, old] of this.#states) {
      const massifs = await until(
        () => this.#massifs(url, subject, trust),
        (read) => read !== undefined,
      );
      const { size, peaks, firstLeaf, entries } = massifs!.at(-1)!;
      this.#checkConsistency(old, massifs!);
      this.#states.set(subject, { ...old, size, peaks });
      const leaves = old.isPublicLog ? shown.length + 1 : listed.length + assetFree.length;
      const found = Number(firstLeaf) + entries.length;
      if (this.#leaves === 'at least') expect([subject, found >= leaves]).toEqual([subject, true]);
      else expect([subject, found]).toEqual([subject, leaves]);
    }
  }

  /** All massifs of a log under their seals; undefined while one of the files is about to be followed by another. */
  async #massifs(url: string, subject: string, trust: Trust): Promise<RecomputedMassif[] | undefined> {
    const massifs: RecomputedMassif[] = [];
    for (let index = 0; ; index += 1) {
      const file = index.toString().padStart(16, '0');
      const base = `/verifiabledata/merklelogs/v1/mmrs/${subject}/0`;
      const massif = await this.#journal.get(url, `${base}/massifs/${file}.log`);
      if (massif.status === 404) return massifs;
      const verified = recomputeMassif(massif.bytes);
      const seal = await this.#journal.get(url, `${base}/massifseals/${file}.sth`);
      const { state } = await verifySeal(seal.bytes, verified.peaks, { ...trust, log: { subject } });
      if (state.size !== verified.size) return undefined;
      const first = verified.entries[0]!.idtimestamp;
      if (index > 0) expect(first > massifs[index - 1]!.lastIdtimestamp).toBe(true);
      massifs.push(verified);
    }
  }

  #checkConsistency(old: LogState, massifs: readonly RecomputedMassif[]): void {
    const { size, peaks } = massifs.at(-1)!;
    const nodeAt = (node: bigint): Uint8Array =>
      massifs.find((massif) => node >= massif.firstNode && node < massif.size)!.nodeAt(node);
    const paths = consistencyProofPaths(old.size, size).map((path) => path.map(nodeAt));
    const reached = consistentRoots(old.size, old.peaks, paths);
    expect(reached.map(toHex)).toEqual(peaks.slice(0, reached.length).map(toHex));
    expect(peakIndices(size).map(nodeAt).map(toHex)).toEqual(peaks.map(toHex));
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
