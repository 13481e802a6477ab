import { parentPort, workerData } from 'node:worker_threads';
import { askMeanwhile } from '../faults/health-checks.js';

// A thread that only asks these servers: the work of the rude callers, in their own thread, does not delay its questions.
const asking = await Promise.all((workerData as readonly string[]).map(askMeanwhile));
parentPort!.once('message', async () => parentPort!.postMessage(await Promise.all(asking.map((each) => each.end()))));
parentPort!.postMessage('asks');
