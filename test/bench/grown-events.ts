import { newSubject, templateAttributes } from './template-event.js';

/** Every hundredth event is alike in what is searched for as one percent. */
export const SHARE = 100;

/** The n-th asset event of a growing tenancy, as an item of a bulk request. */
export function assetEventItem(number: number, asset: { assetId: string; subject: string }): Record<string, unknown> {
  const one =
    number % SHARE === 0 ? { asset_attributes: { bench_grade: 'examined', bench_step: `step ${number}` } } : {};
  return {
    asset_identity: `assets/${asset.assetId}`,
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {
      ...templateAttributes(asset.subject),
      bench_serial: `serial ${number}`,
      bench_share: `share ${number % SHARE}`,
    },
    ...one,
    principal_declared: {
      issuer: 'https://idp.example',
      subject: `agent ${number % SHARE}`,
      display_name: `call ${number}`,
      email: '',
    },
  };
}

/** The n-th event without an asset. */
export function assetFreeEventItem(number: number): Record<string, unknown> {
  return {
    event_type: `type ${number % SHARE}`,
    trails: [`trail ${number}`, `share ${number % SHARE}`],
    attributes: templateAttributes(newSubject()),
  };
}
