import { expect, it } from 'vitest';
import { eventIssuerFindings } from '../../../src/core/verify/event-issuer.js';
import { SAMPLE_ISSUER, SAMPLE_TENANCY_LOG, sampleAssetEvent } from './sample-transparent-statement.js';

const event = sampleAssetEvent({ step: '1' });

it.each([
  ['the service of the pinned issuer', SAMPLE_TENANCY_LOG.issuer, []],
  ['another service', 'https://partner.example', ['its log is of https://partner.example']],
  ['nobody, because it names no service', undefined, ['its log does not say of which service it is']],
])(
  'an event of the pinned tenancy is the issuer’s only in a log of its service: one of %s',
  (_, logIssuer, expected) => {
    const { notCovered = [] } = eventIssuerFindings('event', event, SAMPLE_ISSUER, logIssuer);
    expect(notCovered.map(({ why, detail }) => [why, detail.split(',')[0]])).toEqual(
      expected.map((said) => ['unproven', said]),
    );
  },
);
