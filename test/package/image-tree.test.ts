import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUICK_START } from '../support/quick-start.js';
import { type EmptyFolder, emptyFolder, REPOSITORY } from './empty-folder.js';
import { startService } from './started-service.js';

/** Instructions of a stage of the Dockerfile: name and arguments. */
async function stage(name: string): Promise<[string, string][]> {
  const text = await readFile(join(REPOSITORY, 'Dockerfile'), 'utf8');
  const stages = text.split(/^(?=FROM )/m);
  const wanted = stages.find((each) => new RegExp(`^FROM \\S+ AS ${name}$`, 'm').test(each));
  if (!wanted) throw new Error(`the Dockerfile has no stage ${name}`);
  return [...wanted.matchAll(/^(COPY|RUN) (.+)$/gm)].map((match) => [match[1]!, match[2]!]);
}

describe('the image', () => {
  let folder: EmptyFolder;
  beforeAll(async () => {
    folder = await emptyFolder();
  });
  afterAll(() => folder.remove());

  it('builds from the files that the Dockerfile copies; without development packages it is installed again, starts and is ready', async () => {
    for (const [instruction, words] of await stage('build')) {
      if (instruction === 'COPY') await folder.copy(words.split(' ').slice(0, -1));
      else await folder.run('sh', ['-c', words]);
    }
    await folder.run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund']);
    const service = await startService(folder.path, process.execPath, [...QUICK_START, 'dist/src/main.js']);
    const answer = await fetch(`${service.url}/readyz`);
    await service.stop();
    expect(answer.status).toBe(200);
  }, 300_000);

  it('has a release of Node that CI runs', async () => {
    const [dockerfile, ci] = await Promise.all(
      ['Dockerfile', '.ci/run'].map((name) => readFile(join(REPOSITORY, name), 'utf8')),
    );
    const releases = [...dockerfile!.matchAll(/^FROM node:(\d+)-slim/gm)].map(([, release]) => release);
    expect(new Set(releases).size).toBe(1);
    expect(/^for major in (.+); do$/m.exec(ci!)![1]!.split(' ')).toContain(releases[0]);
  });

  it('holds the wheel that a conserver installs', async () => {
    const wheels = await emptyFolder();
    const instructions = await stage('wheel');
    expect(instructions.map(([, words]) => words)).toEqual([
      'plugins/python /python',
      'python3 /python/build_wheel.py /wheels',
    ]);
    await wheels.copy(['plugins/python']);
    const made = await wheels.run('python3', ['plugins/python/build_wheel.py', 'wheels']);
    await wheels.remove();
    expect(made).toMatch(/vcon_archivist_link-.*-py3-none-any\.whl/);
  });
});
