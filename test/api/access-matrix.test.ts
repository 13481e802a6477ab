import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessRow, accessTable, filled, makeThings, requestOf, type Things, withFresh } from './access-table.js';
import { mountedRoutes, shape, startObservedService } from './mounted-routes.js';
import { clientWith } from './test-service.js';

let running: Awaited<ReturnType<typeof startObservedService>>;
let things: Things;
/** The token of each caller of the table; empty for none. */
let tokens: Readonly<Record<string, string>>;
beforeAll(async () => {
  running = await startObservedService();
  const { owner } = running;
  const creator = await running.client({});
  const claims = { ...decodeJwt(owner.token), exp: Math.floor(Date.now() / 1000) - 60 };
  tokens = {
    none: '',
    garbage: `${owner.token.slice(0, -6)}AAAAAA`,
    expired: await running.service.parts.keyring.signToken(claims, { typ: 'at+jwt' }),
    stranger: (await running.client({ roles: ['OWNER'], otherTenancy: true })).token,
    plain: (await running.client({})).token,
    creator: creator.token,
    owner: owner.token,
  };
  things = await makeThings(running, creator);
});
afterAll(() => running?.close());

describe('the access table', () => {
  it('has a row for every route that is mounted, and none for another', async () => {
    const mounted = (await mountedRoutes(running.url, running.mountedPaths)).map(shape);
    const rows = new Set(accessTable.rows.map((row) => shape(row.route)));
    expect(mounted.filter((route) => !rows.has(route))).toEqual([]);
    expect([...rows].filter((route) => !mounted.includes(route))).toEqual([]);
  });

  it('says of every caller what it is answered', () => {
    expect(accessTable.callers).toEqual(Object.keys(tokens));
    expect(accessTable.rows.filter((row) => row.expect.length !== accessTable.callers.length)).toEqual([]);
  });

  it.each(accessTable.rows.map((row): [string, AccessRow] => [`${row.route} as ${row.url}`, row]))(
    'holds for %s',
    async (_name, row) => {
      const answers: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      for (const [place, caller] of accessTable.callers.entries()) {
        const { status, text } = await asked(row, tokens[caller]!);
        answers[caller] = row.sees ? [status, text.includes(filled(row.sees.text, things))] : status;
        expected[caller] = row.sees ? [row.expect[place], row.sees.by[place]] : row.expect[place];
      }
      expect(answers).toEqual(expected);
    },
  );
});

async function asked(row: AccessRow, token: string): Promise<{ status: number; text: string }> {
  const { method, url, headers, body } = requestOf(row, await withFresh(things, row, running.owner));
  const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const init = { method, headers: { ...headers, ...authorization }, ...(body === undefined ? {} : { body }) };
  const response = await fetch(`${running.url}${url}`, init);
  return { status: response.status, text: await response.text() };
}

describe('a token of the tenancy', () => {
  it('is what the expired one was', async () => {
    const claims = decodeJwt(tokens['expired']!);
    const renewed = { ...claims, exp: Math.floor(Date.now() / 1000) + 600 };
    const token = await running.service.parts.keyring.signToken(renewed, { typ: 'at+jwt' });
    expect((await clientWith(running.url, token).get('/archivist/v2/assets')).status).toBe(200);
  });
});
