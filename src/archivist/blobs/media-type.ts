import type { Readable } from 'node:stream';
import { failureReason } from '../../platform/explain-failure.js';
import { ObjectStoreFailed } from '../../platform/object-store-failed.js';

/** Declared types that mean nothing: the generic type for bytes, and the default type of a form part. */
const SAYS_NOTHING = new Set(['application/octet-stream', 'text/plain']);
const LONGEST = 127;
/** Only this many bytes of a file are examined; an Office document has its list of parts within them, or at its end. */
export const LOOKED_AT = 16 * 1024 * 1024;
const TEXT_SAMPLE = 4096;
const TRIES = 3;
const CONTROLS = /(?![\t\n\v\f\r])\p{Control}/u;

/**
 * Returns the media type of a file: the declared type; else the type detected from its content, where Office documents
 * are told from other archives (docs/design/interface.md#existing-clients); else text/plain for valid UTF-8 text; else
 * application/octet-stream.
 * @param open the beginning of the file, at most `LOOKED_AT` bytes; called only if needed, and again if reading it fails
 * @throws {ObjectStoreFailed} if it cannot be read: the type is stored with the file for ever
 */
export async function mediaType(declared: string, open: () => Promise<Readable>): Promise<string> {
  if (!SAYS_NOTHING.has(declared) && declared.length <= LONGEST) return declared;
  // Loaded with the first file that needs it: most starts do not.
  const { fileTypeFromStream } = await import('file-type');
  const found = await withStream(open, (content) => fileTypeFromStream(content));
  if (found) return found.mime;
  const isText = declared === 'text/plain' && (await withStream(open, beginsAsText));
  return isText ? 'text/plain' : 'application/octet-stream';
}

/** What a look finds; undefined if the content is not as it expects. */
async function withStream<Result>(
  open: () => Promise<Readable>,
  look: (content: Readable) => Promise<Result>,
): Promise<Result | undefined> {
  for (let tries = 1; ; tries += 1) {
    const content = await open();
    const looked = await look(content).catch(() => undefined);
    const failure = content.errored;
    content.destroy();
    // A reader that stops before the end leaves an AbortError.
    if (!failure || failure.name === 'AbortError') return looked;
    if (tries === TRIES) throw new ObjectStoreFailed(failureReason(failure), { cause: failure });
  }
}

async function beginsAsText(content: Readable): Promise<boolean> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of content as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= TEXT_SAMPLE) break;
  }
  try {
    const sample = Buffer.concat(chunks).subarray(0, TEXT_SAMPLE);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: length > TEXT_SAMPLE });
    return !CONTROLS.test(text);
  } catch {
    return false;
  }
}
