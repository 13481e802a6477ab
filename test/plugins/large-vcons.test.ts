import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { startReceiver } from '../../plugins/receiver/receiver.js';
import { vconHashes } from '../../src/core/vcon/vcon-hash.js';
import { processorMs } from '../support/processor-time.js';
import { freshVcon, type OpenBackend, openBackend, type Rig, report, silent, startRig } from './plugin-rig.js';

const MIB = 1024 * 1024;
const UUID = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01';
/** Nothing may keep the event loop for so long. */
const LONGEST_TURN_MS = 2_000;

/** A vCon whose members are many and small: the most to read for its size. */
function dense(bytes: number): Buffer {
  const one = '{"type":"word","start":1.25,"parties":[0,1],"body":"é\\"x"}';
  const count = Math.floor(bytes / (Buffer.byteLength(one) + 1));
  const analysis = Array.from({ length: count }, () => one).join(',');
  const members = `"created_at":"2026-11-20T10:00:00Z","amended":{"uuid":"${UUID}"}`;
  return Buffer.from(`{"analysis":[${analysis}],"uuid":"${UUID}",${members},"parties":[],"attachments":[]}`);
}

function recorded(bytes: number): Buffer {
  const body = randomBytes(Math.floor((bytes * 3) / 4)).toString('base64url');
  return Buffer.from(freshVcon({ uuid: UUID, dialog: [{ type: 'recording', encoding: 'base64url', body }] }));
}

/** The longest time for which other work had to wait, without that for which other processes had the processors. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const times = () => [performance.now(), processorMs()] as const;
  let last = times();
  let longest = 0;
  const timer = setInterval(() => {
    const now = times();
    longest = Math.max(longest, Math.min(now[0] - last[0], now[1] - last[1]));
    last = now;
  }, 5);
  await work();
  await new Promise((wake) => setTimeout(wake, 10));
  clearInterval(timer);
  return longest;
}

describe('a large vCon', () => {
  it('has its hash, its uuid and its times, whatever its size and shape, and its JCS digest where that can be had', async () => {
    for (const make of [dense, recorded]) {
      for (const size of [5 * MIB, 20 * MIB]) {
        const bytes = make(size);
        const facts = await vconFacts(bytes);
        expect(facts).toMatchObject({
          payload: createHash('sha256').update(bytes).digest('hex'),
          form: 'unsigned',
          uuid: UUID,
          consents: [],
        });
        if (make === recorded) expect(facts.jcs!.hash).toBe(vconHashes(bytes).jcs.hash);
        else expect(facts).toMatchObject({ skimmed: true, amended: UUID, createdAt: '2026-11-20T10:00:00Z' });
      }
    }
  });

  it('of 64 MiB, of small members or one recording, never keeps others waiting for two seconds', async () => {
    for (const bytes of [dense(62 * MIB), recorded(62 * MIB)]) {
      const longest = await longestTurn(async () => {
        expect(await vconFacts(bytes)).toMatchObject({ uuid: UUID, skimmed: true });
      });
      expect(longest).toBeLessThan(LONGEST_TURN_MS);
    }
  });

  it('is told apart from what is none', async () => {
    const padding = ' '.repeat(MIB);
    const facts = async (text: string) => vconFacts(Buffer.from(text));
    for (const text of [
      `${padding}[]`,
      `${padding}{`,
      `${padding}{}}`,
      `"${padding}`,
      `{} ${padding}{}`,
      `${padding}"x"`,
    ])
      expect((await facts(text)).form).toBe('malformed');
    const tricky = `{"uuid":"${UUID}","x":"\\\\","y":"\\"}],{","attachments":[],"z":"${padding}"}`;
    expect(await facts(tricky)).toMatchObject({ form: 'unsigned', uuid: UUID });
    const signed = JSON.stringify({
      payload: Buffer.from(JSON.stringify({ uuid: UUID, x: 'y'.repeat(5 * MIB) })).toString('base64url'),
      signatures: [{ header: { uuid: UUID } }],
    });
    expect(await facts(signed)).toMatchObject({ form: 'signed', uuid: UUID, skimmed: true });
    expect(await facts(signed)).not.toHaveProperty('innermostPayloadHash');
    const cipher = { unprotected: { uuid: UUID }, recipients: [{}], ciphertext: 'x'.repeat(25 * MIB) };
    expect(await facts(JSON.stringify(cipher))).toMatchObject({ form: 'encrypted', uuid: UUID, skimmed: true });
  });
});

describe('the receiver of large vCons', () => {
  let open: OpenBackend;
  let rig: Rig;
  beforeAll(async () => {
    open = await openBackend('embedded');
    rig = await startRig(open.backend);
  });
  afterAll(async () => {
    await rig.close();
    await open.close();
  });

  it.each([
    ['one after the other, however many come at the same moment', 5 * MIB, 1],
    ['but small ones together', 1_000, 4],
  ])('takes them %s', async (_, size, together) => {
    let [under, most] = [0, 0];
    const receiver = await startReceiver({
      ...{ host: '127.0.0.1', port: 0, logger: silent, registry: undefined },
      ...{ ping: async () => undefined, counted: () => undefined },
      async capture(_operation, bytes) {
        under += 1;
        most = Math.max(most, under);
        await wait(300);
        under -= 1;
        return { job: '', subject: '', payload: String(bytes.length) };
      },
    });
    try {
      const bytes = Buffer.alloc(size);
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => report(`${receiver.url}/operations/vcon_sent`, bytes)),
      );
      expect(answers.map(({ payload }) => payload)).toEqual(Array.from({ length: 4 }, () => String(size)));
      expect(most).toBe(together);
    } finally {
      await receiver.close();
    }
  });

  it.each([5, 20])(
    'keeps one of %d MB',
    async (size) => {
      const bytes = recorded(size * MIB);
      const { payload, subject } = await report(`${rig.url}/operations/vcon_created`, bytes);
      expect(payload).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(subject).toBe(`vcon://${UUID}`);
    },
    180_000,
  );
});
