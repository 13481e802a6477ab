/**
 * Options of Node for a program that a test starts. WebAssembly stays as first compiled: nearly half of the processor
 * time of an embedded start optimises the engine's code, which pays off only in a process that lives longer than a test's.
 * And one thread collects garbage, from a larger room: several cost a sixth of a start.
 */
export const QUICK_START: readonly string[] = [
  '--liftoff-only',
  // Unknown to later releases, which do not start with it.
  ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=2000000'] : []),
  '--single-threaded-gc',
  '--min-semi-space-size=16',
];
