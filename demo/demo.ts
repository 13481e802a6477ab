import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startThrowAwayService, type ThrowAwayService } from './throw-away-service.js';

const SAMPLES = fileURLToPath(new URL('../../fixtures/vcon/', import.meta.url));
const CLI = fileURLToPath(new URL('../src/cli/vcon-archivist.js', import.meta.url));
const FILES = ['call', 'signed-call', 'text-thread'];
const YOURS = 'http://127.0.0.1:8080';
const PRINT = 'JSON.parse(require("fs").readFileSync(0))';
const TOKEN_COMMANDS = [
  `read -r ID SECRET <<< $(node -p 'const c = require("./data/credentials.json"); c.client_id + " " + c.client_secret')`,
  `TOKEN=$(curl -s -d grant_type=client_credentials -d client_id=$ID -d client_secret=$SECRET ${YOURS}/archivist/iam/v1/appidp/token | node -p '${PRINT}.access_token')`,
];
const ISSUER_COMMAND = `ISSUER=$(node -p '"did:web:127.0.0.1%3A8080:archivist:v1:didweb:" + require("./data/credentials.json").tenant_identity.slice(7)')`;
const SEALED_WITHIN_MS = 60_000;
const STORED_WITHIN_MS = 30_000;

interface EventPage {
  readonly events: readonly { readonly identity: string }[];
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Shows the main use: three vCons become evidence, are verified offline, and one altered byte is refused. */
async function demo(): Promise<void> {
  const folder = resolve('demo-output');
  const dataDir = await mkdtemp(join(tmpdir(), 'archivist-demo-'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  say('1  A service with its conserver plugin starts in an empty folder.');
  const service = await withProgress('starting', startThrowAwayService(dataDir));
  const { issuer } = service;
  const commands: string[] = [];
  try {
    say(`   service ${service.url}, plugin ${service.pluginUrl}`);
    say('2  Three vCons go through the plugin, as a conserver would post them.');
    for (const name of FILES) commands.push(...(await capture(service, folder, name)));
    commands.push(...(await saveKeys(service, folder)));
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
  say('3  The service is stopped and its data deleted. What follows uses only the saved files.');
  for (const name of FILES) await verify(folder, `${name}.vcon.json`, name, issuer);
  say('\n4  One byte of the first vCon is altered.');
  await alter(join(folder, `${FILES[0]}.vcon.json`), join(folder, 'altered.vcon.json'));
  const refused = await verify(folder, 'altered.vcon.json', FILES[0]!, issuer);
  say(`\nThe same steps as commands, against a service of yours (npm start in another terminal):\n`);
  say(
    [...commands, verifyCommand(folder, `${FILES[0]}.vcon.json`, FILES[0]!, '$ISSUER')]
      .map((line) => `  ${line}`)
      .join('\n'),
  );
  if (refused !== 1) throw new Error('the altered vCon was not refused');
}

/** Posts one vCon and fetches its evidence once the log is sealed. */
async function capture(service: ThrowAwayService, folder: string, name: string): Promise<string[]> {
  const document = await readFile(join(SAMPLES, `${name}.vcon.json`));
  await writeFile(join(folder, `${name}.vcon.json`), document);
  const target = '/operations/vcon_created?chain=demo&link=evidence_created';
  const subject = await withProgress(`${name}: waiting for the plugin`, post(service.pluginUrl + target, document));
  const statement = await withProgress(`${name}: waiting for the seal`, evidence(service, subject));
  await writeFile(join(folder, `${name}.cose`), statement);
  say(`   ${name}.vcon.json  →  ${name}.cose   ${subject}`);
  if (name !== FILES[0]) return [];
  const search = createdEvents(subject);
  return [
    ...TOKEN_COMMANDS,
    `curl --data-binary @${shown(folder, `${name}.vcon.json`)} 'http://127.0.0.1:8081${target}'`,
    `until EVENT=$(curl -s -H "authorization: Bearer $TOKEN" '${YOURS}${search}' | node -p '${PRINT}.events[0].identity' 2>/dev/null); do sleep 1; done`,
    `curl -sSf --retry 30 --retry-delay 1 --retry-all-errors -H "authorization: Bearer $TOKEN" -o ${shown(folder, `${name}.cose`)} ${YOURS}/archivist/v2/$EVENT/transparent-statement`,
  ];
}

/**
 * The vCon's subject, once the plugin has stored the operation. It refuses a vCon, or closes the connection, if its queue
 * is not quick enough; on a busy machine that is so for a moment.
 */
async function post(url: string, document: Uint8Array): Promise<string> {
  for (const until = Date.now() + STORED_WITHIN_MS; ; ) {
    const answer = await fetch(url, { method: 'POST', body: new Uint8Array(document) }).catch(causeOf);
    if (answer instanceof Response && answer.ok) return ((await answer.json()) as { subject: string }).subject;
    const why = answer instanceof Response ? `answered ${answer.status}` : `did not answer: ${answer.message}`;
    if (Date.now() > until) throw new Error(`the plugin ${why}`);
    await new Promise((wake) => setTimeout(wake, 500));
  }
}

/** What a failed fetch has to say is in its cause. */
function causeOf(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

/** Where the events that a vCon was created are listed. */
function createdEvents(subject: string): string {
  return `/archivist/v2/assets/-/events?event_attributes.subject=${subject}&event_attributes.vcon_operation=vcon_created`;
}

/**
 * The event's transparent statement; retries until the logs are sealed, because before that it is 404 with Retry-After.
 */
async function evidence(service: ThrowAwayService, subject: string): Promise<Uint8Array> {
  const query = createdEvents(subject);
  for (const until = Date.now() + SEALED_WITHIN_MS; Date.now() < until; ) {
    const { events } = (await (await service.read(query)).json()) as EventPage;
    const statement = events[0] && (await service.read(`/archivist/v2/${events[0].identity}/transparent-statement`));
    if (statement?.ok) return new Uint8Array(await statement.arrayBuffer());
    await new Promise((wake) => setTimeout(wake, 100));
  }
  throw new Error(`${subject} was not sealed within ${SEALED_WITHIN_MS / 1000} seconds`);
}

async function saveKeys(service: ThrowAwayService, folder: string): Promise<string[]> {
  const files = [
    ['log-keys.cbor', '/.well-known/scitt-keys'],
    ['issuer-keys.json', '/archivist/v1/didweb/did.json'],
  ] as const;
  for (const [file, path] of files) {
    const reply = await fetch(service.url + path);
    await writeFile(join(folder, file), new Uint8Array(await reply.arrayBuffer()));
  }
  return [...files.map(([file, path]) => `curl -o ${shown(folder, file)} ${YOURS}${path}`), ISSUER_COMMAND];
}

/** Runs the offline verifier and shows its output. Resolves with its exit status. */
async function verify(folder: string, vcon: string, name: string, issuer: string): Promise<number> {
  say(`\n   $ ${verifyCommand(folder, vcon, name, issuer)}`);
  const { status, output } = await run(verifyArguments(folder, vcon, name, issuer));
  say(output.trimEnd().replace(/^/gm, '   '));
  if (vcon !== 'altered.vcon.json' && status !== 0) throw new Error(`${vcon} was not verified`);
  return status;
}

function verifyArguments(folder: string, vcon: string, name: string, issuer: string): string[] {
  const keys = ['--log-keys', join(folder, 'log-keys.cbor'), '--issuer-keys', join(folder, 'issuer-keys.json')];
  return ['verify', ...keys, '--issuer', issuer, join(folder, vcon), join(folder, `${name}.cose`)];
}

function verifyCommand(folder: string, vcon: string, name: string, issuer: string): string {
  return [
    'npx vcon-archivist',
    ...verifyArguments(folder, vcon, name, issuer).map((word) =>
      word.startsWith(folder) ? relative('.', word) : word,
    ),
  ].join(' ');
}

function run(words: string[]): Promise<{ status: number; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [CLI, ...words], (error, stdout, stderr) => {
      done({ status: error ? Number(error.code) : 0, output: stdout + stderr });
    });
  });
}

/** Changes one letter inside a string, so that the document stays a valid vCon. */
async function alter(from: string, to: string): Promise<void> {
  const text = await readFile(from, 'utf8');
  const place = text.search(/(?<=":\s*"[^"\\]{3,})[a-z](?=[a-z]{2})/);
  if (place < 0) throw new Error('the sample has no text to alter');
  await writeFile(to, text.slice(0, place) + (text[place] === 'x' ? 'y' : 'x') + text.slice(place + 1));
}

function shown(folder: string, file: string): string {
  return relative('.', join(folder, file));
}

/** One line that counts the seconds while something is awaited; nothing without a terminal. */
async function withProgress<Value>(what: string, awaited: Promise<Value>): Promise<Value> {
  const begun = Date.now();
  const show = (): void => void process.stdout.write(`\r   ${what} … ${Math.round((Date.now() - begun) / 1000)} s `);
  const timer = process.stdout.isTTY ? setInterval(show, 250) : undefined;
  if (!timer) say(`   ${what} …`);
  try {
    return await awaited;
  } finally {
    clearInterval(timer);
    if (timer) process.stdout.write('\r\u001b[K');
  }
}

demo().catch((error: unknown) => {
  process.stderr.write(`The demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
