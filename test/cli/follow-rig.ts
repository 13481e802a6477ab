import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type KeptFiles, keptFiles } from '../../src/cli/monitor/kept-files.js';
import { encodeForks } from '../../src/core/fork/read-fork-statement.js';
import { publishedService } from './published-service.js';
import type { Answer } from './sample-published-logs.js';

/** A service that shows one log, and for each test an empty folder in which a monitor remembers it. */
export interface FollowRig {
  readonly url: string;
  readonly kept: KeptFiles;
  readonly folder: string;
  /** What the service shows from now on. */
  answer: Answer;
}

/** Sets one up for the tests of a file. */
export function followRig(): FollowRig {
  let service: Awaited<ReturnType<typeof publishedService>>;
  let folder = '';
  const rig = {
    answer: (() => undefined) as Answer,
    get url() {
      return service.url;
    },
    get folder() {
      return folder;
    },
    get kept() {
      return keptFiles(folder);
    },
  };
  beforeAll(async () => {
    service = await publishedService((path) => rig.answer(path));
  });
  afterAll(() => service?.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'monitor-'));
    rig.answer = () => undefined;
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  return rig;
}

/** Shows also these fork statements. */
export const withForks =
  (shown: Answer, ...statements: Uint8Array[]): Answer =>
  (path) =>
    path.endsWith('/forks') ? encodeForks(statements) : shown(path);
