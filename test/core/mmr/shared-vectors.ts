import { existsSync, readFileSync } from 'node:fs';

function at(name: string): URL {
  return new URL(`../../../../shared/vectors/${name}.json`, import.meta.url);
}

/** True where the shared known answers lie beside the repository. */
export function haveSharedVectors(): boolean {
  return existsSync(at('mmr-kat39'));
}

/** One file of them; the caller knows its shape. */
export function sharedVectors<Shape>(name: string): Shape {
  return JSON.parse(readFileSync(at(name), 'utf8')) as Shape;
}

/** A fixture of our own, by its path under `fixtures/`. */
export function fixture<Shape>(path: string): Shape {
  return JSON.parse(readFileSync(new URL(`../../../fixtures/${path}`, import.meta.url), 'utf8')) as Shape;
}
