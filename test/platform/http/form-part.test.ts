import { expect, it } from 'vitest';
import { readFormPart } from '../../../src/platform/http/form-part.js';

const headers = { 'content-type': 'multipart/form-data; boundary=b' };
const asFile = (name: string, content: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"; filename="f"\r\n\r\n${content}\r\n`;
const asField = (name: string, content: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const read = (...parts: string[]) =>
  readFormPart(Buffer.from(`${parts.join('')}--b--\r\n`), headers, { field: 'statement', limit: 4 });

it.each([asFile, asField])('a part may have as many bytes as its limit, and others may have more: %#', async (as) => {
  expect(Buffer.from(await read(as('other', '123456'), as('statement', '1234'))).toString()).toBe('1234');
  await expect(read(as('statement', '12345'))).rejects.toMatchObject({
    code: 'payload_too_large',
    description: 'statement: may have at most 4 bytes',
  });
});

it.each([
  [asFile, asFile],
  [asFile, asField],
])('a part that is sent twice is refused, because either could be meant: %#', async (one, other) => {
  await expect(read(one('statement', '1'), other('statement', '2'))).rejects.toMatchObject({
    code: 'bad_request',
    description: 'statement: must be sent once',
  });
});
