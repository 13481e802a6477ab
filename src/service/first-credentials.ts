import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../platform/durable-file.js';

/** The credentials that the first start leaves for the operator: enough to request a token. */
const credentialsSchema = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  token_endpoint: z.string(),
  tenant_identity: z.string(),
});
type FirstCredentials = z.infer<typeof credentialsSchema>;

export function credentialsPath(dataDir: string): string {
  return join(dataDir, 'credentials.json');
}

/**
 * Writes the credentials durably, readable only by the file's owner. Replaces the file of an earlier, unfinished start.
 */
export async function writeCredentials(dataDir: string, credentials: FirstCredentials): Promise<void> {
  const text = `${JSON.stringify(credentials, undefined, 2)}\n`;
  await replaceFile(credentialsPath(dataDir), Buffer.from(text), 0o600);
}

/** The credentials that the first start wrote here; undefined without them. */
export async function readCredentials(dataDir: string): Promise<FirstCredentials | undefined> {
  try {
    return credentialsSchema.parse(JSON.parse(await readFile(credentialsPath(dataDir), 'utf8')));
  } catch {
    return undefined;
  }
}
