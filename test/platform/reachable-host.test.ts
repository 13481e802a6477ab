import { expect, it } from 'vitest';
import { reachableHost } from '../../src/platform/reachable-host.js';

it.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['::1', '[::1]'],
  ['10.0.0.7', '10.0.0.7'],
  ['archivist.example', 'archivist.example'],
])('a server that listens on %s is reached at %s', (host, reached) => {
  expect(reachableHost(host)).toBe(reached);
});
