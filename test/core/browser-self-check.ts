import {
  examineTransparentStatement,
  fromHex,
  readKeyDocument,
  utf8,
  type Verdict,
  vconHashes,
} from '../../src/core/index.js';

/** The frozen evidence that a page is given: see fixtures/cose/transparent-statement.json. */
export interface FrozenEvidence {
  /** The vCon's own bytes as text. */
  readonly vcon: string;
  readonly transparentStatementHex: string;
  /** COSE key set. */
  readonly logKeysHex: string;
  readonly issuerJwks: object;
}

/** What the page answers. */
export interface SelfCheck {
  readonly good: Verdict;
  readonly tampered: Verdict;
  readonly rawHash: string | undefined;
}

/** Checks the evidence, and a changed vCon, with nothing but the core: this runs inside a browser. */
export async function selfCheck(evidence: FrozenEvidence): Promise<SelfCheck> {
  const statement = fromHex(evidence.transparentStatementHex);
  const trust = {
    logKeys: readKeyDocument(fromHex(evidence.logKeysHex)),
    issuerKeys: readKeyDocument(utf8(JSON.stringify(evidence.issuerJwks))),
  };
  const document = utf8(evidence.vcon);
  const changed = utf8(evidence.vcon.replace('dialog', 'dialogue'));
  return {
    good: await examineTransparentStatement(statement, { ...trust, document }),
    tampered: await examineTransparentStatement(statement, { ...trust, document: changed }),
    rawHash: vconHashes(document).raw.hash,
  };
}

Object.assign(globalThis, { selfCheck });
