import { measureCrypto } from './crypto-figures.js';
import type { GoalMeasure } from './goal-measure.js';
import { awaitProof, sampleAnswer } from './service-under-test.js';

/** Signatures that are checked within a transparent statement beside raw verifications, in one process, with OpenSSL. */
export const offlineVerification: GoalMeasure = {
  goals: ['offline-verification'],
  async measure(run) {
    const service = await run.startOn('embedded');
    const { identity } = JSON.parse(await sampleAnswer(service)) as { identity: string };
    const statement = await awaitProof(service, identity, 'transparent-statement');
    const measured = await measureCrypto(service, statement, run.plan);
    const { transparentStatementsNode, es256Verifies, signaturesPerStatement } = measured;
    const rounds = transparentStatementsNode.map(
      (rate, round) => (rate * signaturesPerStatement) / es256Verifies[round]!,
    );
    return new Map([['offline-verification', { rounds }]]);
  },
};
