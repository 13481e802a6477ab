import { appendTo } from '../append-to.js';
import { placeOf } from '../bundle/bundle-layout.js';
import { toHex } from '../bytes.js';
import type { Sign1 } from '../cose/sign1.js';
import { type Sha256, sha256 } from '../sha256.js';
import { decodeStatement } from '../statement/decode-statement.js';
import { type EventDocument, readEventDocument } from '../statement/event-document.js';
import { readStatement } from '../statement/signed-statement.js';
import { readTransparentStatement } from '../statement/transparent-statement.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import { provenEvent } from '../verify/event-facts.js';
import { namedAttachments } from '../verify/named-attachments.js';
import { statementFacts } from '../verify/statement-facts.js';
import { checked } from '../verify/verdict.js';
import type { EvidenceFile } from './evidence-file.js';
import { takenForDocument } from './evidence-kind.js';
import { readGivenEvents } from './given-event.js';

/**
 * The same files. Each that another one carries as its payload, or names by its SHA-256 as its payload or an attachment, is
 * a document in them, whatever its form says: a text document can be a zip, and a signed order is a statement. Whether what
 * names it is proven is checked as for every document.
 */
export async function withNamedDocuments(
  files: readonly EvidenceFile[],
  hash: Sha256 = sha256,
): Promise<readonly EvidenceFile[]> {
  const pieces = files.filter(({ kind }) => kind !== 'document');
  if (pieces.length < 2) return files;
  const named = new Map<string, EvidenceFile[]>();
  for (const piece of pieces) for (const digest of new Set(await digestsNamedBy(piece))) appendTo(named, digest, piece);
  if (named.size === 0) return files;
  const isNamed = (file: EvidenceFile, digest: string) => named.get(digest)?.some((other) => other !== file) ?? false;
  return Promise.all(
    files.map(async (file) => {
      const { path, bytes, kind: form } = file;
      if (form === 'document' || bytes.length === 0 || !isNamed(file, toHex(hash(bytes)))) return file;
      return { path, kind: 'document', form, takenFor: await takenForDocument(bytes), bytes } as const;
    }),
  );
}

/** The digests of documents that a piece of evidence speaks of, proven or not, in lower-case hex. */
async function digestsNamedBy({ path, kind, bytes, folder }: EvidenceFile): Promise<string[]> {
  if (kind === 'transparent_statement') return digestsCarried(bytes);
  if (kind === 'statement') return readable(() => digestsStated(decodeStatement(bytes)));
  if (kind === 'event' || kind === 'event_list') {
    const { events } = await readGivenEvents([{ path, kind, takenFor: kind, bytes }]);
    return (await Promise.all(events.map(({ event }) => readable(() => digestsOfEvent(event))))).flat();
  }
  if (kind !== 'bundle') return [];
  const named: string[] = [];
  // One that cannot be read is refused by its own check.
  const contents = await folder!.files().catch((): Readonly<Record<string, Uint8Array>> => ({}));
  for (const [name, content] of Object.entries(contents)) {
    const place = placeOf(name)?.kind;
    if (place === 'transparent-statement') named.push(...(await digestsCarried(content)));
    if (place === 'signed-statement') named.push(...(await readable(() => digestsStated(decodeStatement(content)))));
    if (place === 'event')
      named.push(...(await readable(() => digestsOfEvent(readEventDocument(parseUnambiguousBytes(content))))));
  }
  return named;
}

async function digestsCarried(bytes: Uint8Array): Promise<string[]> {
  const { proven: parts } = await checked('', () => readTransparentStatement(bytes));
  if (!parts) return [];
  const { statement, event } = parts;
  const stated = await readable(() => digestsStated(statement));
  return event ? [...stated, ...(await readable(() => digestsOfEvent(event)))] : stated;
}

function digestsStated(statement: Sign1): string[] {
  const { payload_hash: named, payload_sha256: carried } = statementFacts(readStatement(statement));
  return [named ?? carried ?? []].flat();
}

function digestsOfEvent(event: EventDocument): string[] {
  const { claims = [] } = provenEvent(event, []);
  return claims.flatMap(({ facts }) => [
    ...(facts.payload_hash === undefined ? [] : [facts.payload_hash.toLowerCase()]),
    ...namedAttachments(facts).map(({ digest }) => digest),
  ]);
}

/** What is wrong with a piece is told by its own check. */
async function readable(read: () => string[]): Promise<string[]> {
  return (await checked('', read)).proven ?? [];
}
