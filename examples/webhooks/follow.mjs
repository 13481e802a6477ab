// Follows the stream of events and prints each, once. The position is kept in a file, so a restart goes on from there.
// Run with Node.js 20 or later: ARCHIVIST_URL=https://… ARCHIVIST_TOKEN=… node follow.mjs position.txt [seconds]
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const [file = 'position.txt', seconds] = process.argv.slice(2);
const url = new URL('/archivist/v1/events/stream', process.env.ARCHIVIST_URL);
// Without a position the stream begins with what is confirmed next; -1 is the beginning of the log.
url.searchParams.set('cursor', existsSync(file) ? readFileSync(file, 'utf8') : '-1');
if (seconds !== undefined) url.searchParams.set('seconds', seconds);
const response = await fetch(url, { headers: { authorization: `Bearer ${process.env.ARCHIVIST_TOKEN}` } });
if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);

let rest = '';
const decoder = new TextDecoder();
for await (const chunk of response.body) {
  const messages = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
  rest = messages.pop();
  for (const message of messages) {
    const fields = new Map(message.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
    const name = fields.get('event');
    if (name !== undefined && name !== 'position') console.log(`${name} ${fields.get('data')}`);
    // After the event was dealt with, and replaced as a whole: a crash repeats an event and skips none.
    if (fields.has('id')) {
      writeFileSync(`${file}.new`, fields.get('id'));
      renameSync(`${file}.new`, file);
    }
  }
}
