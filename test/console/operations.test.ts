import { zipSync } from 'fflate';
import { beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../src/console/operations.js';
import { utf8 } from '../../src/core/bytes.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { sampleVerdict } from '../core/evidence/sample-verdict.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';

type Files = Record<string, Uint8Array>;

/** The files of two operations: one updated the vCon, the other created it. */
let updated: Files;
let created: Files;

async function filesOf(operation: string): Promise<Files> {
  const attributes = sampleAttributes(SAMPLE_VCON, { vcon_operation: operation });
  const statement = await sampleStatement(attributes);
  const rfc9162Receipt = await statementLogReceipt(statement);
  const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
  return {
    'signed-statement.cose': statement,
    'statement-log-receipt.cose': rfc9162Receipt,
    'event.json': utf8(JSON.stringify(event)),
    'tenancy-log-receipt.cose': mmrReceipt,
    'transparent-statement.cose': assembleTransparentStatement(statement, { rfc9162Receipt, mmrReceipt, event }),
  };
}

beforeAll(async () => {
  [updated, created] = [await filesOf('vcon_updated'), await filesOf('vcon_created')];
});

/** The operations that a page shows, each with what its claims say. */
async function shown(files: Files): Promise<string[][]> {
  const { claims } = await sampleVerdict({ ...files, 'call.json': SAMPLE_VCON }, SAMPLE_ISSUER);
  return operationsOf(claims).map((each) => each.claims.map(({ kind, facts }) => `${kind} ${facts.operation}`).sort());
}

const pick = (files: Files, names: readonly string[], folder = ''): Files =>
  Object.fromEntries(names.map((name) => [`${folder}${name}`, files[name]!]));
const EVENT = ['event.json', 'tenancy-log-receipt.cose'];
const apart = [['statement vcon_updated'], ['event vcon_created']];

describe('claims are of one operation', () => {
  it('where a transparent statement carries the event', async () => {
    const [both] = await shown(pick(updated, ['transparent-statement.cose']));
    expect(both).toEqual(['event vcon_updated', 'statement vcon_updated']);
  });

  it('where they are in one folder of a bundle, and only there', async () => {
    const two = { ...pick(updated, Object.keys(updated), '1/'), ...pick(created, Object.keys(created), '2/') };
    const shownOf = await shown({ 'both.zip': zipSync(two) });
    expect(shownOf.map((each) => [...new Set(each)])).toEqual([
      ['event vcon_updated', 'statement vcon_updated'],
      ['event vcon_created', 'statement vcon_created'],
    ]);
  });
});

describe('claims are of operations of their own', () => {
  it('in loose files, whatever their names are', async () => {
    const files = {
      ...pick(updated, ['signed-statement.cose', 'statement-log-receipt.cose'], 'a/'),
      'a/transparent-statement.cose': created['event.json']!,
      'a/receipt': created['tenancy-log-receipt.cose']!,
    };
    expect((await shown(files)).toSorted()).toEqual(apart.toSorted());
  });

  it('in two folders of a bundle, of which one is named like a file of the other', async () => {
    const plain = assembleTransparentStatement(updated['signed-statement.cose']!, {
      rfc9162Receipt: updated['statement-log-receipt.cose']!,
    });
    const files = { 'transparent-statement.cose': plain, ...pick(created, EVENT, 'transparent-statement.cose/') };
    expect((await shown({ 'b.zip': zipSync(files) })).toSorted()).toEqual(apart.toSorted());
  });

  it('in one folder of a bundle, if they contradict each other', async () => {
    const files = { ...pick(updated, ['transparent-statement.cose']), ...pick(created, EVENT) };
    expect(await shown({ 'b.zip': zipSync(files) })).toEqual([
      ['event vcon_updated', 'statement vcon_updated'],
      ['event vcon_created'],
    ]);
  });
});
