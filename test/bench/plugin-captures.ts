import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { percentile, rounded } from './statistics.js';

const REPOSITORY = new URL('../../../', import.meta.url);
const MIB = 1024 * 1024;

/** A vCon of about 5 kB, another one each time. */
export function benchVcon(): string {
  const turns = Array.from({ length: 30 }, (_, turn) => ({ party: turn % 2, start: turn * 2.5, text: 'x'.repeat(80) }));
  const analysis = [{ type: 'transcript', vendor: 'bench', body: JSON.stringify(turns), encoding: 'json' }];
  return JSON.stringify({ uuid: randomUUID(), created_at: '2026-11-20T10:00:00Z', parties: [], dialog: [], analysis });
}

/** Milliseconds of one post over a connection of its own, as a conserver's webhook makes it. */
export function timedPost(url: string, body: string | Buffer): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode! < 300 ? resolve(performance.now() - begun) : reject(new Error(`${response.statusCode}`)),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export function times(values: readonly number[]) {
  return {
    p50: rounded(percentile(values, 0.5)),
    p99: rounded(percentile(values, 0.99)),
    vcons: values.length,
    unit: 'ms',
  };
}

/** Posts to each target in turn, so that whatever else the machine does weighs on all. */
export async function measurePosts(targets: Readonly<Record<string, string>>, count: number) {
  const measured = Object.fromEntries(Object.keys(targets).map((name) => [name, [] as number[]]));
  for (let round = -20; round < count; round += 1) {
    for (const [name, url] of Object.entries(targets)) {
      const ms = await timedPost(url, benchVcon());
      if (round >= 0) measured[name]!.push(ms);
    }
  }
  return Object.fromEntries(Object.entries(measured).map(([name, values]) => [name, times(values)]));
}

/** The wheel's link and tracer in a Python process, each with its one command to this Redis. */
export function measureWheel(redisUrl: string, count: number) {
  const python = process.env['TEST_PYTHON'] ?? 'python3';
  const conserver = fileURLToPath(new URL('test/plugins/conserver', REPOSITORY));
  const path = `${conserver}:${fileURLToPath(new URL('plugins/python', REPOSITORY))}`;
  const stream = `bench-${randomUUID()}`;
  const document = benchVcon();
  const { uuid } = JSON.parse(document) as { uuid: string };
  const options = { stream };
  const calls = Array.from({ length: count }, () => [
    { link: 'evidence', uuid, options },
    { tracer: [uuid, uuid], links: ['transcribe'], index: 0, options },
  ]).flat();
  const run = spawnSync(python, ['-B', `${conserver}/drive.py`], {
    input: JSON.stringify([{ set: uuid, document }, ...calls]),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: path, REDIS_URL: redisUrl },
  });
  if (run.status !== 0) return { notRun: 'python3 with redis-py 4.6 is needed: TEST_PYTHON' };
  const results = (JSON.parse(run.stdout) as { results: { ms: number }[] }).results.slice(21);
  const every = (which: number) => results.filter((_, place) => place % 2 === which).map(({ ms }) => ms);
  return { link: times(every(0)), tracer: times(every(1)) };
}

function recorded(bytes: number): Buffer {
  const body = randomBytes(Math.floor((bytes * 3) / 4)).toString('base64url');
  return Buffer.from(JSON.stringify({ uuid: randomUUID(), parties: [], dialog: [{ type: 'recording', body }] }));
}

function dense(bytes: number): Buffer {
  const word = '{"type":"word","start":1.25,"parties":[0,1],"body":"text"}';
  const words = Array.from({ length: Math.floor(bytes / (word.length + 1)) }, () => word).join(',');
  return Buffer.from(`{"uuid":"${randomUUID()}","parties":[],"analysis":[${words}]}`);
}

/** Of large vCons: the time of a post, and the longest turn that looking at them takes of the event loop. */
export async function measureLarge(url: string) {
  const rows = [];
  for (const [shape, make] of [
    ['one recording', recorded],
    ['many small members', dense],
  ] as const) {
    for (const size of [5, 20, 62]) {
      const bytes = make(size * MIB);
      const postMs = await timedPost(url, bytes).then(rounded, () => 'refused');
      rows.push({ shape, MiB: size, postMs, longestTurnMs: rounded(await longestTurn(() => vconFacts(bytes))) });
    }
  }
  return rows;
}

async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 2);
  await work();
  look();
  clearInterval(timer);
  return longest;
}
