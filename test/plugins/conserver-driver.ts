import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { Redis } from 'ioredis';
import { asRead, asStored, storable } from '../../src/core/vcon/conserver-forms.js';
import { type JsonObject, readJson } from '../../src/core/vcon/json-document.js';
import { pythonJson } from '../../src/core/vcon/python-json.js';

/** A link of a chain: true lets the chain go on, a uuid goes on with that vCon, false halts it, an error ends it. */
export type Link = (uuid: string) => Promise<boolean | string>;

export interface Chain {
  readonly ingress: string;
  readonly links: readonly Link[];
  readonly egress: readonly string[];
}

/** What became of one vCon in its chain. */
export type Outcome = 'completed' | 'halted' | 'dead-lettered' | 'nothing to do';

/**
 * Does with Redis and HTTP what a conserver does: takes a uuid with BLPOP, so that it is in no list while its chain runs;
 * halts without a trace; pushes to egress lists before it is done; has every exception end in the dead-letter list.
 */
export interface ConserverDriver {
  readonly redis: Redis;
  /** Puts a vCon in and names it in the chain's ingress list. Resolves with its uuid. */
  submit(chain: Chain, document: string): Promise<string>;
  /** Takes the next vCon through its chain. @param killAfter links: there the process would have died */
  step(chain: Chain, killAfter?: number): Promise<Outcome>;
  /** Pushes what is in the dead-letter list to the ingress list, as `POST /dlq/reprocess` does. */
  reprocess(chain: Chain): Promise<number>;
  deadLetters(chain: Chain): Promise<string[]>;
  /** The stock `links.webhook`. */
  webhook(url: string, headers?: Record<string, string>): Link;
  /** A link that sets these members of the vCon, given as JSON, and stores it as links do. */
  edit(members: string): Link;
  close(): Promise<void>;
}

const DOCUMENT_SECONDS = 3600;

/** As `requests.post` in the stock link: no time-out; any status is success, a broken connection an exception. */
function post(url: string, body: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'python-requests/2.31.0',
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
      agent: false,
    });
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export function conserverDriver(url: string): ConserverDriver {
  const redis = new Redis(url);
  const key = (uuid: string) => `vcon:${uuid}`;
  const read = async (uuid: string): Promise<JsonObject> => {
    const text = await redis.get(key(uuid));
    if (text === null) throw new Error('KeyError');
    return asRead(storable(readJson(Buffer.from(text))));
  };

  async function run(chain: Chain, first: string, killAfter: number): Promise<Outcome> {
    let uuid = first;
    for (const [place, link] of chain.links.entries()) {
      if (place === killAfter) return 'nothing to do';
      const answer = await link(uuid);
      if (answer === false) return 'halted';
      if (typeof answer === 'string') uuid = answer;
    }
    for (const list of chain.egress) await redis.rpush(list, uuid);
    return 'completed';
  }

  return {
    redis,
    async submit(chain, document) {
      const { uuid } = JSON.parse(document) as { uuid: string };
      await redis.set(key(uuid), pythonJson(readJson(Buffer.from(document)).value), 'EX', DOCUMENT_SECONDS);
      await redis.rpush(chain.ingress, uuid);
      return uuid;
    },
    async step(chain, killAfter = -1) {
      const popped = await redis.blpop(chain.ingress, 1);
      if (!popped) return 'nothing to do';
      const [, uuid] = popped;
      try {
        return await run(chain, uuid, killAfter);
      } catch {
        await redis.rpush(`DLQ:${chain.ingress}`, uuid);
        await redis.expire(key(uuid), 7 * 86_400);
        return 'dead-lettered';
      }
    },
    async reprocess(chain) {
      let moved = 0;
      for (let uuid = await redis.lpop(`DLQ:${chain.ingress}`); uuid; uuid = await redis.lpop(`DLQ:${chain.ingress}`)) {
        await redis.rpush(chain.ingress, uuid);
        moved += 1;
      }
      return moved;
    },
    deadLetters: (chain) => redis.lrange(`DLQ:${chain.ingress}`, 0, -1),
    webhook:
      (target, headers = {}) =>
      async (uuid) => {
        await post(target, pythonJson(await read(uuid)), headers);
        return true;
      },
    edit: (members) => async (uuid) => {
      const changed = readJson(Buffer.from(members)).value as JsonObject;
      const vcon = new Map([...(await read(uuid)), ...changed]);
      await redis.set(key(uuid), pythonJson(asStored(vcon)), 'KEEPTTL');
      return true;
    },
    async close() {
      redis.disconnect();
    },
  };
}

/** Lists that no other test uses. */
export function ownChain(links: readonly Link[], egress: readonly string[] = []): Chain {
  return { ingress: `ingress-${randomUUID()}`, links, egress };
}
