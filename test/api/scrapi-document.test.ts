import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foreignMap } from '../scitt/foreign-reader.js';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { type Answer, startTestService, type TestService } from './test-service.js';

interface Described {
  readonly schema?: { readonly $ref?: string; readonly type?: string };
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly 'x-content-type'?: string;
}
interface Operation {
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  readonly parameters: readonly { in: string; schema?: unknown }[];
  readonly responses: Readonly<Record<string, Described>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly definitions: Readonly<Record<string, { required: string[] }>>;
}

const PROBLEM = 'application/concise-problem-details+cbor';
const NOBODY = '0190a8c0-0000-7000-8000-0000000000ff';
const issuer = sampleIssuer();

let running: TestService;
let document: Document;
let keys: Document;
beforeAll(async () => {
  running = await startTestService();
  document = (await running.anonymous.get('/archivist/v1/scrapi:openapi')).json as unknown as Document;
  keys = (await running.anonymous.get('/archivist/v1/didweb:openapi')).json as unknown as Document;
});
afterAll(() => running?.close());

/** What is told of an answer, beside what it is. */
function held(operation: Operation, answer: Answer) {
  const told = operation.responses[String(answer.status)];
  const { headers, bytes, status } = answer;
  const [type] = (headers.get('content-type') ?? '').split(';');
  const telling = ['location', 'retry-after', 'www-authenticate'].filter((name) => headers.has(name));
  expect(told, `status ${status}`).toBeDefined();
  expect(operation.produces).toContain(type);
  if (told!['x-content-type'] !== undefined) expect(told!['x-content-type']).toBe(type);
  expect([status, telling]).toEqual([status, Object.keys(told!.headers ?? {})]);
  if (status >= 400) {
    expect([type, told!.schema]).toEqual([PROBLEM, { $ref: '#/definitions/ProblemDetails' }]);
    const required = document.definitions['ProblemDetails']!.required.map(Number).sort();
    expect([...foreignMap(bytes).keys()].map(Number).sort()).toEqual(required);
  } else if (status < 300 && type !== 'application/json') expect(told!.schema).toEqual({ type: 'file' });
  return status;
}

const post = (headers: Record<string, string> = {}, body = sampleStatement(issuer), client = running.owner) =>
  sendCose(running.url, client, '/entries', body, { 'content-type': 'application/cose', ...headers });
const get = (path: string) => sendCose(running.url, running.anonymous, path);

describe('the OpenAPI document of SCRAPI tells what is really answered:', () => {
  it('to a registration', async () => {
    const operation = document.paths['/entries']!['post']!;
    expect(operation.consumes).toEqual(['application/cose', 'application/scitt-statement+cose']);
    expect(operation.parameters).toMatchObject([{ in: 'body', schema: { type: 'string', format: 'binary' } }]);
    const fresh = () => sampleStatement(sampleIssuer());
    const answers = [
      await post(),
      await post({ 'content-type': 'application/scitt-statement+cose' }),
      await post({ prefer: 'respond-async' }, fresh()),
      await post({}, new Uint8Array([1])),
      await post({}, fresh(), running.anonymous),
      await post({ 'content-type': 'text/plain' }),
      await post({}, new Uint8Array(70_000)),
    ];
    expect(answers.map((answer) => held(operation, answer))).toEqual([201, 201, 303, 400, 401, 415, 413]);
    const limited = await startTestService({ RATE_LIMIT: '1' });
    try {
      const ask = () => sendCose(limited.url, limited.owner, '/entries', fresh());
      const many = await Promise.all([ask(), ask(), ask(), ask()]);
      expect(many.map((answer) => held(operation, answer))).toContain(429);
    } finally {
      await limited.close();
    }
  });

  it('to a question for an entry', async () => {
    const location = (await post()).headers.get('location')!;
    const { pathname } = new URL(location);
    for (const [path, statuses] of [
      ['/entries/{id}', [200, 404, 400]],
      ['/entries/{id}/statement', [200, 404, 400]],
      ['/entries/{id}/registration-policy', [200, 404, 400]],
    ] as const) {
      const operation = document.paths[path]!['get']!;
      const rest = path.slice('/entries/{id}'.length);
      const asked = [`${pathname}${rest}`, `/entries/${NOBODY}${rest}`, `/entries/none${rest}`];
      const answers: Answer[] = [];
      for (const each of asked) answers.push(await get(each));
      expect([path, answers.map((answer) => held(operation, answer))]).toEqual([path, statuses]);
    }
    expect(Object.keys(document.paths['/entries/{id}']!['get']!.responses)).toContain('302');
  });

  it('to a question for a key, and for where all of it lies', async () => {
    const operation = keys.paths['/.well-known/scitt-keys/{kid}']!['get']!;
    const answer = await get('/.well-known/scitt-keys/none');
    expect([answer.status, operation.responses['404']?.schema]).toEqual([
      404,
      { $ref: '#/definitions/ProblemDetails' },
    ]);
    expect(held(operation, answer)).toBe(404);
    const configuration = document.paths['/.well-known/transparency-configuration']!['get']!;
    for (const accept of ['application/cbor', 'application/json', '*/*']) {
      const told = await fetch(`${running.url}/.well-known/transparency-configuration`, { headers: { accept } });
      expect(configuration.produces).toContain(told.headers.get('content-type'));
    }
  });
});
