import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_VARIABLES } from '../../src/service/config/environment.js';
import { REPOSITORY } from './empty-folder.js';

interface Service {
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[] | Readonly<Record<string, { readonly aliases: readonly string[] }>>;
}

const text = readFileSync(join(REPOSITORY, 'docker-compose.yml'), 'utf8');
const { services, networks } = parse(text) as {
  services: Readonly<Record<string, Service>>;
  networks: Readonly<Record<string, { readonly external?: string }>>;
};
/** Services of the conserver's own Compose file, all of them in the network `conserver`. */
const OF_THE_CONSERVER = ['conserver', 'api', 'redis', 'postgres', 'elasticsearch'];

describe('the Compose file', () => {
  it.each(['archivist', 'plugin'])('sets only variables that the program or PostgreSQL’s client reads: %s', (name) => {
    const known = [...CONFIG_VARIABLES, 'PGPASSWORD'];
    expect(Object.keys(services[name]!.environment!).filter((each) => !known.includes(each))).toEqual([]);
  });

  it.each(['archivist', 'plugin'])('kills it only after the time that a stop may take, 25 s: %s', (name) => {
    expect(services[name]!.stop_grace_period).toBe('30s');
  });

  it('requires only variables that the guide lists', () => {
    const guide = readFileSync(join(REPOSITORY, 'docs/get-started.md'), 'utf8');
    const required = [...text.matchAll(/\$\{(\w+):\?/g)].map((match) => match[1]!);
    expect(required.length).toBeGreaterThan(0);
    expect(required.filter((name) => !guide.includes(`\n${name}=`))).toEqual([]);
  });

  it('makes the network of a conserver, unless it is told that there is one, which Compose refuses to make again', () => {
    expect(networks['conserver']!.external).toMatch(/^\$\{CONSERVER_NETWORK_EXISTS:-false\}$/);
  });

  it('calls from that network no name that a service of the conserver has there too', () => {
    const { environment, networks: joined } = services['plugin']!;
    expect(joined).toContain('conserver');
    const urls = Object.values(environment!).filter((value) => value.includes('://'));
    const hosts = urls.map((url) => new URL(url).hostname);
    expect(hosts).toContain('archivist-redis');
    expect(hosts.filter((host) => OF_THE_CONSERVER.includes(host))).toEqual([]);
    const names = Object.entries(services).flatMap(([name, { networks: own = [] }]) => [
      name,
      ...Object.values(own).flatMap((network) => (typeof network === 'string' ? [] : network.aliases)),
    ]);
    expect(hosts.filter((host) => !names.includes(host))).toEqual([]);
  });
});
