import { randomUUID } from 'node:crypto';
import type { Answer, Client } from './test-service.js';

/** Uploads as the stock client does: one part, a file name of no meaning, a type only when one is given. */
export async function uploadFile(
  url: string,
  client: Client,
  bytes: Uint8Array,
  type?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const boundary = `boundary-${randomUUID()}`;
  const declared = type === undefined ? '' : `\r\nContent-Type: ${type}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="filename"${declared}\r\n\r\n`;
  const response = await fetch(`${url}/archivist/v1/blobs`, {
    method: 'POST',
    headers: {
      ...(client.token ? { authorization: `Bearer ${client.token}` } : {}),
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...more,
    },
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  });
  const answered = new Uint8Array(await response.arrayBuffer());
  const { status, headers } = response;
  return { status, headers, bytes: answered, json: JSON.parse(new TextDecoder().decode(answered)) };
}
