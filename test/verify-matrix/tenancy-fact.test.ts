import { expect, it } from 'vitest';
import {
  SAMPLE_ISSUER,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import type { ShownClaim } from '../core/verify/verdict-facts.js';
import { bothVerifiers } from './both-verifiers.js';

const { judged } = bothVerifiers('tenancy-fact');

interface Answer {
  readonly claims?: readonly ShownClaim[];
}
const facts = ({ claims = [] }: Answer) => {
  const { issuer: name, tenancy } = claims[0]!.facts as Record<string, string>;
  return { name, tenancy };
};

/** The facts of a statement of this issuer, as both verifiers show them. */
async function shown(name: string, { pin, isLogged = true }: { pin?: string; isLogged?: boolean } = {}) {
  const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON), sampleSigners.issuer, name);
  const files = { 'a.cose': statement, ...(isLogged ? { 'b.cose': await statementLogReceipt(statement) } : {}) };
  return facts(await judged<Answer>(files, facts, pin === undefined ? {} : { issuer: pin }));
}

it('a statement states a tenancy only if its issuer is pinned, or of the service whose log holds it', async () => {
  const other = SAMPLE_ISSUER.replace('archive.example', 'other.example');
  const below = SAMPLE_ISSUER.replace('archive.example', 'archive.example:prefix');
  const [known, unknown] = [SAMPLE_TENANCY, undefined];
  expect(await shown(SAMPLE_ISSUER)).toEqual({ name: SAMPLE_ISSUER, tenancy: known });
  expect(await shown(SAMPLE_ISSUER, { isLogged: false })).toEqual({ name: SAMPLE_ISSUER, tenancy: unknown });
  expect(await shown(SAMPLE_ISSUER, { isLogged: false, pin: SAMPLE_ISSUER })).toMatchObject({ tenancy: known });
  for (const name of [other, below]) expect(await shown(name)).toEqual({ name, tenancy: unknown });
  expect(await shown(other, { pin: other })).toEqual({ name: other, tenancy: known });
});
