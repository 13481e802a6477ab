import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPERATOR_TOKEN } from '../iam/tokens/authenticate-operator.js';
import { certificateFault, failureReason } from '../platform/explain-failure.js';
import { fetchDirect } from '../platform/http/fetch-direct.js';

const ANSWER_WITHIN_MS = 30_000;

/** The service refused or did not answer. The message is for a person. */
export class OperatorRefused extends Error {
  override readonly name = 'OperatorRefused';
}

/** Calls the running service as its operator. */
export interface OperatorClient {
  /** @throws {OperatorRefused} */
  get(path: string): Promise<Record<string, unknown>>;
  /** @throws {OperatorRefused} */
  post(path: string, body?: object, withinMs?: number): Promise<Record<string, unknown>>;
}

const WHERE_THE_TOKEN_IS =
  'the service creates it at its first start; set KEYS_DIR or DATA_DIR to the service’s folder';

const WHERE_IT_ANSWERS =
  'start the service, or, if it runs, give an address that reaches it from here, such as --url http://127.0.0.1:8080';

const BUSY_OR_AWAY = 'the service there is busy, or the address does not reach it';
const MAY_STILL_HAPPEN = 'It may still do what was asked: look before you run the command again';

/** A request that has timed out may have reached the service. */
function whyUnanswered(url: string, method: 'GET' | 'POST', withinMs: number, error: Error): string {
  if (error.name !== 'TimeoutError') return `${url} does not answer: ${certificateFault(error) ?? WHERE_IT_ANSWERS}`;
  const late = `${url} has not answered within ${withinMs / 1000} seconds: ${BUSY_OR_AWAY}`;
  return method === 'POST' ? `${late}. ${MAY_STILL_HAPPEN}` : late;
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** @param url base of the service @param keysDir its folder of private keys @throws {OperatorRefused} if the operator's token cannot be read */
export async function openOperatorClient(url: string, keysDir: string): Promise<OperatorClient> {
  const file = join(keysDir, OPERATOR_TOKEN);
  const token = (
    await readFile(file, 'utf8').catch((error: unknown) => {
      throw new OperatorRefused(
        `${file} cannot be read: ${isAbsent(error) ? WHERE_THE_TOKEN_IS : failureReason(error)}`,
      );
    })
  ).trim();
  const ask = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    withinMs = ANSWER_WITHIN_MS,
  ): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const address = `${url}/archivist/operator/v1${path}`;
    const answer = await fetchDirect(address, { method, headers, ...sent }, withinMs).catch((error: Error) => {
      throw new OperatorRefused(whyUnanswered(url, method, withinMs, error));
    });
    const json = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    if (!answer.ok) throw new OperatorRefused(String(json['description'] ?? `the service answered ${answer.status}`));
    return json;
  };
  return { get: (path) => ask('GET', path), post: (path, body, withinMs) => ask('POST', path, body, withinMs) };
}
