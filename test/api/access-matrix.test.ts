import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Callers, makeCallers } from './access-callers.js';
import {
  type AccessRow,
  accessTable,
  expectedOf,
  filled,
  makeThings,
  requestOf,
  type Things,
  withFresh,
} from './access-table.js';
import { mountedRoutes, shape, startObservedService } from './mounted-routes.js';
import { clientWith } from './test-service.js';

let running: Awaited<ReturnType<typeof startObservedService>>;
let things: Things;
let callers: Callers;
beforeAll(async () => {
  running = await startObservedService({ PRIVATE_IDENTITY_PROVIDERS: 'allow' });
  const creator = await running.client({});
  things = await makeThings(running, creator);
  callers = await makeCallers(running, creator);
});
afterAll(async () => {
  await running?.close();
  await callers?.end();
});

/** How an answer may be kept that not everybody may have. */
const PERSONAL = expect.stringMatching(/^(no-store|private, .*)$/);

describe('the access table', () => {
  it('has a row for every route that is mounted, and none for another', async () => {
    const mounted = (await mountedRoutes(running.url, running.mountedPaths)).map(shape);
    const rows = new Set(accessTable.rows.map((row) => shape(row.route)));
    expect(mounted.filter((route) => !rows.has(route))).toEqual([]);
    expect([...rows].filter((route) => !mounted.includes(route))).toEqual([]);
  });

  it('says of every caller what it is answered', () => {
    expect([...accessTable.callers, ...Object.keys(accessTable.alike)]).toEqual(Object.keys(callers.headers));
    expect(accessTable.rows.filter((row) => row.expect.length !== accessTable.callers.length)).toEqual([]);
    const named = accessTable.rows.flatMap((row) => Object.keys({ ...row.but, ...row.sees?.but }));
    expect(named.filter((name) => !(name in accessTable.alike))).toEqual([]);
  });

  it.each(accessTable.rows.map((row): [string, AccessRow] => [`${row.route} as ${row.url}`, row]))(
    'holds for %s',
    async (_name, row) => {
      const answers: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      for (const caller of [...accessTable.callers, ...Object.keys(accessTable.alike)]) {
        const { status, text, kept } = await asked(row, callers.headers[caller]!);
        // Whoever may not read it without a token must not find it in a cache either.
        if (status >= 400) expect([caller, status, kept]).toEqual([caller, status, 'no-store']);
        else if (expectedOf(row, 'none').status >= 400) expect([caller, kept]).toEqual([caller, PERSONAL]);
        answers[caller] = row.sees ? [status, text.includes(filled(row.sees.text, things))] : status;
        const answer = expectedOf(row, caller);
        expected[caller] = row.sees ? [answer.status, answer.sees] : answer.status;
      }
      expect(answers).toEqual(expected);
    },
  );
});

async function asked(
  row: AccessRow,
  caller: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string; kept: string | null }> {
  const { method, url, headers, body } = requestOf(row, await withFresh(things, row, running.owner));
  const init = {
    method,
    redirect: 'manual' as const,
    headers: { ...headers, ...caller },
    ...(body === undefined ? {} : { body }),
  };
  const response = await fetch(`${running.url}${url}`, init);
  return { status: response.status, text: await response.text(), kept: response.headers.get('cache-control') };
}

describe('a token of the tenancy', () => {
  it('is what the expired one was', async () => {
    const claims = decodeJwt(callers.headers['expired']!['authorization']!.slice('Bearer '.length));
    const renewed = { ...claims, exp: Math.floor(Date.now() / 1000) + 600 };
    const token = await running.service.parts.keyring.signToken(renewed, { typ: 'at+jwt' });
    expect((await clientWith(running.url, token).get('/archivist/v2/assets')).status).toBe(200);
  });
});
