// The entry point of the embedded engine's thread (`start-engine.ts`).
import { parentPort } from 'node:worker_threads';
import { serveEngine } from './serve-engine.js';

serveEngine(parentPort!);
