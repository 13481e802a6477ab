import { parentPort, workerData } from 'node:worker_threads';
import { askMeanwhile } from '../faults/health-checks.js';

// A thread that does nothing but ask these servers, so that whoever is rude to one of them holds up no question.
const asking = await Promise.all((workerData as readonly string[]).map(askMeanwhile));
parentPort!.once('message', async () => parentPort!.postMessage(await Promise.all(asking.map((each) => each.end()))));
parentPort!.postMessage('asks');
