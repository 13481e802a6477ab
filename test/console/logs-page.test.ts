import { sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../../src/core/bytes.js';
import { cosignatureMessage, encodeCosignature } from '../../src/core/tlog/cosignature.js';
import { encodeVkey, type NoteKey, NoteKeyType, signatureLine } from '../../src/core/tlog/signed-note.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { startTestService, type TestService, template, until } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { type OpenPage, pageRig } from './page-rig.js';

const ADDRESS = '/verifiabledata/tlog';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const SUBJECT = 'vcon://0192e8f5-0000-7000-8000-0000000000e7';
const HOSTILE = '<b/onclick=alert(1)>\u202ewitness';

const SIGNED_AT = 1_790_000_000;

interface SampleWitness {
  readonly vkey: string;
  /** A line of signature for this text. */
  cosign(text: string): string;
}

function sampleWitness(name: string): SampleWitness {
  const { privateKey, publicKey } = newKeyPair({ type: 'ed25519' });
  const bytes = fromBase64(publicKey.export({ format: 'jwk' }).x!);
  const key: NoteKey = { name: `${name}.example`, type: NoteKeyType.cosignature, publicKey: bytes };
  const at = BigInt(SIGNED_AT);
  return {
    vkey: encodeVkey(key),
    cosign: (text) => signatureLine(key, encodeCosignature(at, sign(null, cosignatureMessage(at, text), privateKey))),
  };
}

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
  await record('vcon_created');
}, 120_000);
afterAll(() => running?.close());

/** Records an event about a vCon on a public asset, until its statement is in the public log. */
async function record(operation: string): Promise<void> {
  const post = async (path: string, body: object) => String((await running.owner.post(path, body)).json['identity']);
  const asset = await post('/archivist/v2/assets', { public: true, attributes: {} });
  const event = await post(`/archivist/v2/${asset}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template(SUBJECT, { vcon_operation: operation }),
  });
  const receipt = () => running.anonymous.get(`/archivist/v2/public${event}/transparent-statement`);
  await until(receipt, ({ status }) => status === 200, 60_000);
}

describe('the address of the statement logs', () => {
  it('is a page for a browser, and JSON for every other client', async () => {
    const page = await running.anonymous.get(ADDRESS, { accept: BROWSER });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(/connect-src 'self'.*frame-ancestors 'none'$/);
    for (const accept of [undefined, '*/*', 'application/json']) {
      const { headers, json } = await running.anonymous.get(ADDRESS, accept === undefined ? {} : { accept });
      expect([headers.get('content-type'), Array.isArray(json['logs'])]).toEqual(['application/json', true]);
      expect(headers.get('vary')?.split(', ')).toContain('accept');
    }
  });
});

describe.skipIf(!chromiumPath)('the page of the statement logs', { timeout: 120_000 }, () => {
  let rig: Awaited<ReturnType<typeof pageRig>>;
  beforeAll(async () => {
    rig = await pageRig();
  });
  afterAll(() => rig?.close());

  const inPage = async (
    check: (open: OpenPage) => Promise<void>,
    { colorScheme = 'light', refused }: { colorScheme?: 'light' | 'dark'; refused?: RegExp } = {},
  ) => {
    const open = await rig.open(running.url + ADDRESS, { colorScheme });
    try {
      await logIn(open, 'Public statements')
        .getByText(/ entr(y|ies)$/)
        .waitFor();
      await check(open);
      const complaints = open.complaints.filter((each) => !each.startsWith(running.url));
      // Chromium reports each refused request; those that a test provokes are what it checks.
      expect(complaints.filter((each) => !refused?.test(each))).toEqual([]);
    } finally {
      await open.close();
    }
  };
  const logIn = (open: OpenPage, name: string) => open.page.getByRole('region', { name });
  const show = async (open: OpenPage, index: string) => {
    const log = logIn(open, 'Public statements');
    await log.getByLabel('Entry, from 0').fill(index);
    await log.getByRole('button', { name: /^Show/ }).click();
    return log;
  };

  it('shows each log with its signed checkpoint, and proves an entry under it', () =>
    inPage(async (open) => {
      for (const name of ['Public statements', 'Keys of the service', 'Private statements'])
        await logIn(open, name).getByText('Signed with the verifier key below').waitFor();
      const log = await show(open, '0');
      await log.getByText('The log holds this entry').waitFor();
      expect(await log.textContent()).toContain(SUBJECT);
      expect(open.page.url()).toMatch(/#[0-9a-f-]+\/0$/);
      await open.page.reload();
      await logIn(open, 'Public statements').getByText('The log holds this entry').waitFor();
      await (await show(open, '99999')).getByText('Enter a number from 0 to').waitFor();
    }));

  it('says at the next visit how the log has grown, and that it contains its older state', () =>
    inPage(async (open) => {
      const log = logIn(open, 'Public statements');
      await log.getByText('sees the log for the first time').waitFor();
      await record('vcon_redacted');
      await open.page.reload();
      await log.getByText(/^[1-9]\d* new entr(y|ies) since/).waitFor();
      await log.getByText('contained in this one: checked here').waitFor();
    }));

  it('does not say that it keeps a state where the browser refuses storage', () =>
    inPage(async (open) => {
      await open.page.addInitScript('Storage.prototype.setItem = () => { throw new DOMException() }');
      await open.page.evaluate('localStorage.clear()');
      await open.page.reload();
      const log = logIn(open, 'Public statements');
      await log.getByText('keeps nothing for the next visit').waitFor();
      expect(await log.getByText('for the first time').count()).toBe(0);
    }));

  it('says when the log no longer contains what this browser saw, at every visit and on paper', () =>
    inPage(async (open) => {
      const log = logIn(open, 'Public statements');
      await log.getByText('sees the log for the first time').waitFor();
      await open.page.evaluate(
        `for (const name of Object.keys(localStorage)) {
           const [size, , at] = JSON.parse(localStorage.getItem(name));
           localStorage.setItem(name, JSON.stringify([size, ${JSON.stringify(toBase64(new Uint8Array(32)))}, at]));
         }`,
      );
      for (let visit = 0; visit < 2; visit += 1) {
        await open.page.reload();
        await log.getByText('it shows two histories').waitFor();
      }
      await open.page.emulateMedia({ media: 'print' });
      expect(await log.getByText('it shows two histories').isVisible()).toBe(true);
    }));

  it('says so too when the log is smaller than what this browser saw', () =>
    inPage(async (open) => {
      const log = logIn(open, 'Public statements');
      await log.getByText('sees the log for the first time').waitFor();
      await open.page.evaluate(
        `for (const name of Object.keys(localStorage)) {
           const [, root, at] = JSON.parse(localStorage.getItem(name));
           localStorage.setItem(name, JSON.stringify(['1000000', root, at]));
         }`,
      );
      await open.page.reload();
      await log.getByText('it shows two histories').waitFor();
    }));

  it('says why it shows no logs, or nothing of a log, and asks again', () =>
    inPage(
      async (open) => {
        let status = 500;
        await open.page.route(`**${ADDRESS}`, (route, request) =>
          request.isNavigationRequest() || status === 200
            ? route.fallback()
            : route.fulfill({ status, json: { description: 'Too busy.' } }),
        );
        await open.page.reload();
        const again = open.page.getByRole('button', { name: 'Try again' });
        await open.page.getByRole('alert').filter({ hasText: 'Too busy.' }).waitFor();
        status = 200;
        await open.page.route(
          '**/checkpoint',
          (route) => route.fulfill({ status: 503, json: { description: 'Not ready.' } }),
          { times: 1 },
        );
        await again.click();
        await open.page.getByRole('alert').filter({ hasText: 'Not ready.' }).waitFor();
        await again.click();
        await open.page.getByRole('alert').waitFor({ state: 'detached' });
        for (const name of ['Public statements', 'Keys of the service', 'Private statements'])
          await logIn(open, name).getByText('Signed with the verifier key below').waitFor();
      },
      { refused: /status of 50[03]/ },
    ));

  it('refuses a checkpoint that is not signed, and does not keep it', () =>
    inPage(async (open) => {
      await open.page.addInitScript('localStorage.clear()');
      await open.page.route('**/checkpoint', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replace(/(?<=\n)\d+/, '9') });
      });
      await open.page.reload();
      for (const name of ['Public statements', 'Private statements', 'Keys'])
        await logIn(open, name).locator('dd .fault').waitFor();
      expect(await open.page.evaluate<number>('localStorage.length')).toBe(0);
    }));

  it('refuses a signed checkpoint of another log', () =>
    inPage(async (open) => {
      interface Log {
        readonly id: string;
        readonly kind: string;
        readonly vkey: string;
      }
      const { logs } = (await (await fetch(`${running.url}${ADDRESS}`)).json()) as { logs: Log[] };
      const keys = logs.find(({ kind }) => kind === 'keys')!;
      const checkpoint = await running.anonymous.get(`${ADDRESS}/${keys.id}/checkpoint`);
      await open.page.route(`**${ADDRESS}`, (route, request) =>
        request.isNavigationRequest()
          ? route.fallback()
          : route.fulfill({ json: { logs: logs.map((log) => ({ ...log, vkey: keys.vkey })) } }),
      );
      await open.page.route('**/checkpoint', (route) => route.fulfill({ body: Buffer.from(checkpoint.bytes) }));
      await open.page.reload();
      await logIn(open, 'Public statements').getByText('This checkpoint is of another log').waitFor();
    }));

  it('says when an entry is not the one that the root covers', () =>
    inPage(async (open) => {
      await open.page.route('**/tile/entries/**', async (route) => {
        const response = await route.fetch();
        const body = await response.body();
        body[body.length - 1]! ^= 1;
        body[40]! ^= 1;
        await route.fulfill({ response, body });
      });
      await (await show(open, '0')).getByText('does not lead to the root').waitFor();
    }));

  it('checks each cosignature with the keys that the service names or the reader knows, and refuses a wrong one', () =>
    inPage(async (open) => {
      const [named, forged, known, silent] = ['named', 'forged', 'known', 'silent'].map(sampleWitness) as [
        SampleWitness,
        SampleWitness,
        SampleWitness,
        SampleWitness,
      ];
      const stranger = sampleWitness('stranger');
      await open.page.route('**/checkpoint', async (route) => {
        const response = await route.fetch();
        const note = await response.text();
        const text = note.slice(0, note.indexOf('\n\n') + 1);
        const lines = [named, known, stranger].map((witness) => witness.cosign(text));
        await route.fulfill({ response, body: `${note}${lines.join('')}${forged.cosign(`${text}more\n`)}` });
      });
      await open.page.route(`**${ADDRESS}`, async (route, request) => {
        if (request.isNavigationRequest()) return route.fallback();
        const { logs } = (await (await route.fetch()).json()) as { logs: object[] };
        const witnesses = [named.vkey, forged.vkey];
        return route.fulfill({ json: { logs: logs.map((log) => ({ ...log, witnesses })) } });
      });
      await open.page.reload();
      const log = logIn(open, 'Public statements');
      const row = (name: string) => log.getByRole('listitem').filter({ hasText: `${name}.example` });
      await row('named').getByText('checked with a key that only this service names').waitFor();
      await row('forged').getByText('Refused').waitFor();
      for (const name of ['known', 'stranger']) await row(name).getByText('Not checked').waitFor();
      expect(await row('named').locator('time').getAttribute('datetime')).toBe(
        new Date(1000 * SIGNED_AT).toISOString(),
      );
      for (const name of ['forged', 'known']) expect(await row(name).locator('time').count()).toBe(0);

      const keys = open.page.getByLabel('Keys of witnesses');
      await keys.fill('known.example+00000000+AAAA');
      await open.page.getByText('not name+hash+key').waitFor();
      await keys.fill(`${known.vkey}\n${silent.vkey}`);
      await row('known').getByText('checked with the key that you know').waitFor();
      await row('silent').getByText('has not cosigned this checkpoint').waitFor();
      await open.page.reload();
      await row('known').getByText('checked with the key that you know').waitFor();
      expect(await open.barriers()).toEqual([]);
      await open.picture('witnesses');
      // No witness is asked about the private log.
      expect(await logIn(open, 'Private statements').getByText('silent.example').count()).toBe(0);
    }));

  it('shows hostile names of witnesses as text', () =>
    inPage(async (open) => {
      await open.page.route('**/checkpoint', async (route) => {
        const response = await route.fetch();
        const line = `— ${HOSTILE} ${toBase64(new Uint8Array(76))}\n`;
        await route.fulfill({ response, body: (await response.text()) + line });
      });
      await open.page.reload();
      const log = logIn(open, 'Public statements');
      await log.getByText(HOSTILE.replace('\u202e', '\\u202e')).first().waitFor();
      expect(await open.page.locator('#page b').count()).toBe(0);
    }));

  it.each(['light', 'dark'] as const)(
    'has no barrier that axe finds, also narrow, nor scrolls sideways with widely spaced text, in %s colours',
    (colorScheme) =>
      inPage(
        async (open) => {
          await (await show(open, '0')).getByText('The log holds this entry').waitFor();
          for (const details of await open.page.locator('details').all())
            await details.evaluate((element) => element.setAttribute('open', ''));
          expect(await open.barriers()).toEqual([]);
          await open.picture('logs');
          await open.page.setViewportSize({ width: 320, height: 640 });
          expect(await open.barriers()).toEqual([]);
          expect(await open.page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
          await open.picture('logs');
          // Some browsers make a field wider than Chromium does.
          await open.page.setViewportSize({ width: 240, height: 640 });
          expect(await open.sidewaysWhenSpaced()).toBe(0);
        },
        { colorScheme },
      ),
  );
});
