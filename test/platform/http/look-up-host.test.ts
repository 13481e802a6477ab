import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askNameServers, createLookupInTurn } from '../../../src/platform/http/look-up-host.js';
import { createOutboundFetch, OutboundRefused } from '../../../src/platform/http/outbound-fetch.js';

const A = 1;
const HEADER_BYTES = 12;

/** Answers a question for an IPv4 address with `address`, and one for another with no address. */
function answerTo(question: Buffer, address: readonly number[]): Buffer {
  const end = question.indexOf(0, HEADER_BYTES) + 5;
  const hasOne = question.readUInt16BE(end - 4) === A;
  const header = Buffer.from([...question.subarray(0, 2), 0x81, 0x80, 0, 1, 0, hasOne ? 1 : 0, 0, 0, 0, 0]);
  const record = hasOne ? [0xc0, HEADER_BYTES, 0, A, 0, 1, 0, 0, 0, 0, 0, 4, ...address] : [];
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end), Buffer.from(record)]);
}

describe('the look-up of a public host', () => {
  let server: Socket;
  let nameServers: string[];
  let address: readonly number[] | undefined;
  let questions: number;
  beforeEach(async () => {
    questions = 0;
    address = undefined;
    server = createSocket('udp4', (question, { port }) => {
      questions += 1;
      if (address) server.send(answerTo(question, address), port, '127.0.0.1');
    });
    await new Promise<void>((bound) => server.bind(0, '127.0.0.1', bound));
    nameServers = [`127.0.0.1:${server.address().port}`];
  });
  afterEach(() => server.close());

  it('delays no look-up of the system while name servers do not answer', async () => {
    const fetchHost = createOutboundFetch({ allowPrivate: false, nameServers });
    const refused = Array.from({ length: 8 }, (_, number) =>
      expect(fetchHost(`https://h${number}.silent.example/`)).rejects.toThrow(OutboundRefused),
    );
    await expect.poll(() => questions).toBeGreaterThan(8);
    const began = performance.now();
    await lookup('localhost');
    expect(performance.now() - began).toBeLessThan(3_000);
    await Promise.all(refused);
  }, 15_000);

  it('returns the addresses of one family if the other has none', async () => {
    address = [192, 0, 43, 8];
    expect(await askNameServers('host.example', nameServers)).toEqual([{ address: '192.0.43.8', family: 4 }]);
  });

  it('refuses a name that leads to a private address', async () => {
    address = [10, 0, 0, 1];
    const fetchHost = createOutboundFetch({ allowPrivate: false, nameServers });
    await expect(fetchHost('https://host.example/')).rejects.toThrow('the address is in a private network');
  });
});

describe('the look-up of a host that may be on the premises', () => {
  it('takes one of the system’s threads, and none for a name that nobody waits for', async () => {
    const running: string[] = [];
    const ends: (() => void)[] = [];
    const look = createLookupInTurn(50, (hostname, _options, found) => {
      running.push(hostname);
      ends.push(() => found(null, '127.0.0.1', 4));
    });
    const answers: string[] = [];
    for (const host of ['first', 'late'])
      look(host, {}, (error) => answers.push(error ? `${host}: ${error.message}` : host));
    await expect.poll(() => running).toEqual(['first']);
    await new Promise((wake) => setTimeout(wake, 100));
    expect(running).toEqual(['first']);
    ends[0]!();
    await expect.poll(() => answers).toEqual(['first', 'late: the look-up of the host waited too long']);
    look('next', {}, (error) => answers.push(error ? `next: ${error.message}` : 'next'));
    await expect.poll(() => running).toEqual(['first', 'next']);
    ends[1]!();
    await expect.poll(() => answers.at(-1)).toBe('next');
  });
});
