import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { rootFingerprint } from '../../src/core/keys/root-fingerprint.js';
import { startTestService, type TestService, template, until } from '../api/test-service.js';
import { flipBit } from '../core/massif/sample-log.js';
import { chromiumPath } from '../support/chromium.js';
import { BUILT_PAGE, type OpenPage, PLAIN_HOST, pageRig } from './page-rig.js';

const UUID = '0192e8f5-0000-7000-8000-0000000000f1';
const VCON = utf8(`{"vcon": "0.3.0", "uuid": "${UUID}", "parties": [{"name": "مريم"}], "dialog": []}`);
/** Elements, an attribute that ends, a script's end, and a character that reverses what follows. */
const HOSTILE = `<img src=x onerror="alert(1)"></script><script>alert(2)</script>\u202egpj.exe`;

type Files = Readonly<Record<string, Uint8Array>>;
type Rig = Awaited<ReturnType<typeof pageRig>>;

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

describe('the verifier at /verify', () => {
  const built = readFileSync(BUILT_PAGE);

  it('is that file, under its own policy, and named by its SHA-256', async () => {
    const { status, bytes, headers } = await running.anonymous.get('/verify', { 'accept-encoding': 'identity' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(Buffer.from(bytes).equals(built)).toBe(true);
    expect(headers.get('etag')).toBe(`"${createHash('sha256').update(built).digest('hex')}"`);
    const policy = headers.get('content-security-policy')!;
    expect(built.toString()).toContain(policy.replace("; frame-ancestors 'none'", ''));
    expect(policy).toMatch(/frame-ancestors 'none'$/);
  });

  it('is not sent again to a browser that has it, compressed or not', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const asked = { 'accept-encoding': encoding };
      const etag = (await running.anonymous.get('/verify', asked)).headers.get('etag')!;
      expect(etag).toMatch(encoding === 'gzip' ? /^W\/"\w{64}"$/ : /^"\w{64}"$/);
      const again = await running.anonymous.get('/verify', { ...asked, 'if-none-match': etag });
      expect([again.status, again.bytes.length, again.headers.get('etag')]).toEqual([304, 0, etag]);
    }
  });

  it('is linked from the first page', async () => {
    const { bytes } = await running.anonymous.get('/');
    expect(new TextDecoder().decode(bytes)).toContain('href="verify"');
  });
});

describe.skipIf(!chromiumPath)('the verifier in a browser', { timeout: 120_000 }, () => {
  let rig: Rig;
  let fingerprint: string;
  let bundle: Files;
  let hostile: Uint8Array;
  let bundlePath: string;
  let callPath: string;

  const recorded = async (attributes: Record<string, unknown>): Promise<Uint8Array> => {
    const post = async (path: string, body: object) => String((await running.owner.post(path, body)).json['identity']);
    const asset = await post('/archivist/v2/assets', { attributes: { arc_display_type: 'vcon' } });
    const event = await post(`/archivist/v2/${asset}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: template(`vcon://${UUID}`, attributes),
    });
    const evidence = () => running.owner.get(`/archivist/v2/${event}/evidence`);
    return (await until(evidence, ({ status }) => status === 200, 60_000)).bytes;
  };

  beforeAll(async () => {
    rig = await pageRig();
    fingerprint = running.service.rootFingerprint;
    const payload = createHash('sha256').update(VCON).digest('hex');
    const good = await recorded({ vcon_operation: 'vcon_consent_revoked', payload });
    hostile = await recorded({ vcon_operation: HOSTILE, note: { [HOSTILE]: HOSTILE } });
    bundle = unzipSync(good);
    bundlePath = rig.file('evidence.zip', good);
    callPath = rig.file('call.json', VCON);
  });
  afterAll(() => rig?.close());

  const inPage = async (check: (open: OpenPage) => Promise<void>, ...how: Parameters<Rig['open']>): Promise<void> => {
    const open = await rig.open(...how);
    try {
      await check(open);
      expect(open.complaints).toEqual([]);
    } finally {
      await open.close();
    }
  };

  it('verifies a bundle and its vCon from a disk, without a request, only under the reader’s fingerprint', () =>
    inPage(async (open) => {
      await open.give(bundlePath, callPath);
      expect(await open.outcome()).toBe('Not verified yet');
      expect(await open.page.locator('.banner').textContent()).toContain(fingerprint);
      expect((await open.verdict()).outcome).toBe('incomplete');
      await open.trust(fingerprint);
      await open.page.locator('.banner.verified').waitFor();
      const shown = open.page.locator('.result');
      expect(await shown.textContent()).toContain('call.json is the file that this evidence is about.');
      expect(await shown.getByRole('heading', { name: 'Consent revoked' }).count()).toBe(1);
    }));

  const around = (name: string) => ({
    ...Object.fromEntries(Object.entries(bundle).map(([path, bytes]) => [`evidence/${path}`, bytes])),
    'call.json': VCON,
    [name]: utf8('of the system'),
  });

  it.each([
    ['a disk', undefined],
    ['a service', '127.0.0.1'],
  ])('takes files that are dropped on a page from %s, and gives the focus to the answer', (_, host) =>
    inPage(async (open) => {
      await open.trust(fingerprint);
      await open.page.getByRole('button', { name: 'Choose files' }).focus();
      const drop = await open.hold('h1', bundlePath, callPath);
      await open.page.getByRole('heading', { name: 'Drop to check' }).waitFor();
      await open.picture('verify-drop');
      await drop();
      expect(await open.outcome()).toBe('Verified');
      expect(await open.focused()).toBe('Verified');
      expect(await open.page.getByRole('heading', { name: 'Drop to check' }).count()).toBe(0);
      expect(await open.verdict()).toEqual(await rig.verify('--root', fingerprint, bundlePath, callPath));
    }, host && addressOf(host)),
  );

  it('verifies a dropped folder with a bundle’s folder, its vCon and a file of the system in it', () =>
    inPage(async (open) => {
      await open.trust(fingerprint);
      await (await open.hold('h1', rig.folder('case', around('.DS_Store'))))();
      expect(await open.outcome()).toBe('Verified');
      expect(await open.page.locator('.files li strong').allTextContents()).toEqual([
        'case/call.json',
        'case/evidence',
      ]);
    }, addressOf('127.0.0.1')));

  it('says why a dropped folder is not read: it is empty, too deep, or closed to a page on a disk', async () => {
    const deep = rig.folder('deep', { [`${'d/'.repeat(8)}call.json`]: VCON });
    const empty = rig.folder('empty', {});
    await inPage(async (open) => {
      await (await open.hold('h1', empty))();
      await open.page.getByText('The folder empty contains no files.').waitFor();
      await (await open.hold('h1', deep))();
      await open.page.getByText(/^The folder deep\/.* is nested too deeply: at most 8 levels are read\./).waitFor();
    }, addressOf('127.0.0.1'));
    await inPage(async (open) => {
      await (await open.hold('h1', deep))();
      await open.page.getByText('does not let this page read the dropped folder deep. Use “Choose a folder”').waitFor();
    });
  });

  it('trusts the keys in key files that are chosen or dropped on their field, and says which keys counted', () =>
    inPage(async (open) => {
      const keyFile = async (name: string, path: string) => rig.file(name, (await running.anonymous.get(path)).bytes);
      const keys = [
        await keyFile('scitt-keys', '/.well-known/scitt-keys'),
        await keyFile('did.json', '/archivist/v1/didweb/did.json'),
      ];
      await open.give(rig.file('statement.cose', bundle['transparent-statement.cose']!));
      expect(await open.outcome()).toBe('Keys are missing');
      await open.page.getByText('More to compare with').click();
      await (await open.hold('details input[type=file]', ...keys))();
      await open.page.getByText('3 keys are trusted.').waitFor();
      expect(await open.outcome()).toBe('Verified');
      expect(await open.page.locator('.files li').count()).toBe(1);
      const banner = open.page.locator('.banner');
      await banner.getByText('Checked with the key files that you gave.').waitFor();
      await open.trust(fingerprint);
      await banner.getByText('Your root fingerprint was not used').waitFor();
      await open.give(bundlePath);
      await banner.getByText('The key files that you gave were trusted too.').waitFor();
      await open.trust('');
      const field = open.page.getByLabel('Key files that you got');
      await field.setInputFiles(keys.slice(1));
      await open.page.getByText('1 key is trusted.').waitFor();
      await field.setInputFiles(rig.file('letter.txt', 'hello'));
      await open.page.getByText('letter.txt: no keys that can be used').waitFor();
      expect(await open.outcome()).toBe('Not verified yet');
    }));

  it('says which file cannot be read, of evidence and of keys', () =>
    inPage(async (open) => {
      await open.page.evaluate('Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException())');
      await open.give(callPath);
      await open.page.getByText('call.json cannot be read.').waitFor();
      await open.page.getByText('More to compare with').click();
      await open.page.getByLabel('Key files that you got').setInputFiles(bundlePath);
      await open.page.getByText('evidence.zip cannot be read.').waitFor();
    }));

  it('says of a zip that it contains no evidence, not that keys are missing, with a fingerprint and without', () =>
    inPage(async (open) => {
      const letter = rig.file('letter.docx', zipSync({ 'word/document.xml': utf8('<w/>') }));
      for (const trusted of ['', fingerprint]) {
        await open.trust(trusted);
        await open.give(letter);
        expect([trusted, await open.outcome()]).toEqual([trusted, 'Cannot be checked']);
        expect(await open.page.locator('.banner').textContent()).toContain('letter.docx contains no evidence');
        await open.page.getByRole('button', { name: 'Remove all' }).click();
      }
    }));

  it('says in its answer that the reader named no issuer, until one is named', () =>
    inPage(async (open) => {
      const banner = open.page.locator('.banner.verified');
      await open.trust(fingerprint);
      await open.give(bundlePath, callPath);
      await banner.getByText('You named no issuer').waitFor();
      const { claims } = (await open.verdict()) as unknown as { claims: { facts: { issuer?: string } }[] };
      await open.page.getByText('More to compare with').click();
      await open.page
        .getByLabel('Issuer that must have signed')
        .fill(claims.find((each) => each.facts.issuer)!.facts.issuer!);
      await banner.getByText('You named no issuer').waitFor({ state: 'detached' });
      await banner.waitFor();
    }));

  it.each([
    ['a page on a disk', undefined],
    ['a page that came over plain HTTP', PLAIN_HOST],
  ])('gives the verdict of the command line on genuine and on tampered files, as %s', (_, host) =>
    inPage(async (open) => {
      const changed = (name: string, change: (bytes: Uint8Array) => Uint8Array) =>
        rig.file(`${name.replace(/\W/g, '-')}.zip`, zipSync({ ...bundle, [name]: change(bundle[name]!) }));
      const lastBit = (bytes: Uint8Array) => flipBit(bytes, bytes.length - 1);
      const massif = Object.keys(bundle).find((name) => name.endsWith('.log'))!;
      const rows: [string[], string][] = [
        [[bundlePath, callPath], 'Verified'],
        [[bundlePath, rig.file('other.json', utf8('{"vcon":"0.3.0","uuid":"1","parties":[]}'))], 'Refused'],
        [[changed('transparent-statement.cose', lastBit)], 'Refused'],
        [[changed(massif, lastBit)], 'Refused'],
        [[changed('event.json', (bytes) => utf8(text(bytes).replace('RecordEvidence', 'RecordEvidenca')))], 'Refused'],
      ];
      for (const [files, outcome] of rows) {
        await open.page.reload();
        await open.trust(fingerprint);
        await open.give(...files);
        expect([files, await open.outcome()]).toEqual([files, outcome]);
        expect(await open.verdict()).toEqual(await rig.verify('--root', fingerprint, ...files));
      }
    }, host && addressOf(host)),
  );

  it.each([
    ['127.0.0.1', 'with the cryptography of the browser'],
    [PLAIN_HOST, 'without it, over plain HTTP'],
  ])('takes each single piece, with the key list beside it or kept from an earlier check, from %s %s', (host) =>
    inPage(async (open) => {
      const part = (name: string) => rig.file(name.replace(/.*\//, ''), bundle[name]!);
      const log = Object.keys(bundle).filter((name) => /\.(log|sth)$/.test(name));
      const replica = rig.file('replica.zip', zipSync(Object.fromEntries(log.map((name) => [name, bundle[name]!]))));
      const manifest = part('keys/key-manifest.cbor');
      const statement = part('transparent-statement.cose');
      await open.trust(fingerprint);
      await open.give(statement, callPath);
      expect(await open.outcome()).toBe('Keys are missing');
      await open.give(manifest);
      await open.page.locator('.banner.verified').waitFor();
      // Not waitForFunction: it evaluates text in the page from its second look on, which the page's policy forbids.
      await vi.waitFor(
        async () =>
          expect(
            await open.page.evaluate("JSON.parse(localStorage.getItem('vcon-archivist.verifier')).manifest"),
          ).toBeTruthy(),
        10_000,
      );
      await open.page.reload();
      // From here on the browser has fingerprint and key list.
      for (const files of [
        [statement, callPath],
        [part('event.json'), part('tenancy-log-receipt.cose')],
        log.map(part),
        [replica, part('event.json')],
      ]) {
        await open.give(...files);
        expect([files, await open.outcome()]).toEqual([files, 'Verified']);
        await open.page.getByRole('button', { name: 'Remove all' }).click();
      }
      await open.give(rig.file('notes.txt', 'garbage'));
      expect(await open.outcome()).toBe('Cannot be checked');
    }, addressOf(host)),
  );

  it('refuses evidence of another operator, and says where a mistyped fingerprint is wrong, in the colour of what is refused', () =>
    inPage(async (open) => {
      await open.give(bundlePath);
      await open.trust(fingerprint.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')));
      const field = open.page.getByLabel('Root fingerprint');
      await open.page.locator('.fault', { hasText: 'checksum' }).waitFor();
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      const colourOf = (part: string) =>
        open.page
          .locator(part)
          .evaluate((element) => element.ownerDocument.defaultView!.getComputedStyle(element).color);
      const colourOfFault = await colourOf('.fault');
      expect(await open.page.locator('.banner').count()).toBe(0);
      await open.trust(rootFingerprint(new Uint8Array(32).fill(7)));
      expect(await open.outcome()).toBe('Refused');
      expect(colourOfFault).toBe(await colourOf('.banner.refused'));
      expect(await open.page.locator('.refusals').textContent()).toContain('root_not_trusted');
    }));

  it('shows hostile texts of evidence and of file names as text', () =>
    inPage(async (open) => {
      await open.trust(fingerprint);
      await open.give(rig.file(`${HOSTILE.replaceAll('/', '')}.zip`, hostile));
      expect(await open.outcome()).toBe('Verified');
      for (const details of await open.page.locator('.result details').all())
        await details.evaluate((element) => element.setAttribute('open', ''));
      expect(await open.page.locator('img, .result script').count()).toBe(0);
      const heading = open.page.locator('.operation h4').first();
      expect(await heading.textContent()).toBe(HOSTILE.replace('\u202e', '\\u202e'));
      expect(await open.page.locator('#page').textContent()).not.toContain('\u202e');
    }));

  it('is used by keyboard alone: files, answer, proof', () =>
    inPage(async (open) => {
      const { keyboard } = open.page;
      const chooser = open.page.waitForEvent('filechooser');
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      await (await chooser).setFiles([bundlePath]);
      await open.outcome();
      const focused = () => open.page.evaluate<string>('document.activeElement.textContent');
      expect(await focused()).toBe('Not verified yet');
      await keyboard.press('Tab');
      expect(await focused()).toBe('Proof');
      await keyboard.press('Enter');
      expect(await open.page.locator('.proof').first().isVisible()).toBe(true);
    }));

  it('leaves the focus where the reader types when the answer comes, and shows the answer', () =>
    inPage(async (open) => {
      const { keyboard } = open.page;
      await open.page.getByLabel('Root fingerprint').focus();
      await keyboard.insertText(fingerprint.slice(0, 20));
      await open.give(bundlePath);
      await open.page.getByText('evidence.zip').waitFor();
      await keyboard.insertText(fingerprint.slice(20));
      await open.page.locator('.banner.verified').waitFor();
      expect(await open.focused()).toBe('Root fingerprint of the operator');
    }));

  it('takes a file that was removed and is chosen again', () =>
    inPage(async (open) => {
      const remove = open.page.getByRole('button', { name: 'Remove call.json' });
      for (let times = 0; times < 2; times += 1) {
        await open.give(callPath);
        await remove.click();
        await remove.waitFor({ state: 'detached' });
      }
    }));

  it('gives the focus to the list’s heading when the button that has it goes', () =>
    inPage(async (open) => {
      await open.give(bundlePath, callPath);
      await open.outcome();
      for (const name of ['Remove call.json', 'Remove all']) {
        await open.page.getByRole('button', { name }).focus();
        await open.page.keyboard.press('Enter');
        await expect.poll(() => open.focused()).toBe('Your files');
      }
    }));

  it.each(['light', 'dark'] as const)('has no barrier that axe finds, wide and narrow, in %s colours', (colorScheme) =>
    inPage(
      async (open) => {
        expect(await open.barriers()).toEqual([]);
        await open.give(bundlePath, rig.file('wrong.json', '{"vcon":"0.3.0","uuid":"2","parties":[]}'));
        await open.outcome();
        await open.picture('verify-refused');
        await open.page.getByText('More to compare with').click();
        expect(await open.barriers()).toEqual([]);
        await open.page.getByRole('button', { name: 'Remove wrong.json' }).click();
        await open.page.locator('.banner.incomplete').waitFor();
        await open.trust(fingerprint);
        await open.page.locator('.banner.verified').waitFor();
        await open.picture('verify');
        for (const details of await open.page.locator('details').all())
          await details.evaluate((element) => element.setAttribute('open', ''));
        expect(await open.barriers()).toEqual([]);
        await open.page.setViewportSize({ width: 320, height: 640 });
        expect(await open.barriers()).toEqual([]);
        const width = await open.page.evaluate<number>('document.documentElement.scrollWidth');
        expect(width).toBeLessThanOrEqual(320);
      },
      undefined,
      { colorScheme },
    ),
  );

  it('asks the service for nothing but itself', () =>
    inPage(async (open) => {
      await open.trust(fingerprint);
      await open.give(bundlePath, callPath);
      expect(await open.outcome()).toBe('Verified');
    }, `${running.url}/verify`));

  it('says over plain HTTP that the browser offers no cryptography there', () =>
    inPage(async (open) => {
      expect(await open.page.evaluate('[isSecureContext, typeof crypto.subtle]')).toEqual([false, 'undefined']);
      await open.trust(fingerprint);
      await open.give(bundlePath);
      expect(await open.outcome()).toBe('Verified');
      await open.page.locator('.banner').getByText('came over plain HTTP').waitFor();
    }, addressOf(PLAIN_HOST)));

  const addressOf = (host: string) => `${running.url.replace('127.0.0.1', host)}/verify`;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
});
