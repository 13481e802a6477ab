import { expect, it } from 'vitest';
import { z } from 'zod';
import { maskedBody } from '../../../src/platform/http/field-mask.js';

const schema = z.object({
  name: z.string().nullish(),
  count: z.number().optional(),
  enabled: z.boolean().nullish(),
  claims: z.object({}).optional(),
  filters: z.array(z.string()).optional(),
});

it('a member that the mask names and the body lacks gets the zero value of its type', () => {
  const body = { name: 'kept', count: 5 };
  expect(maskedBody('name, enabled,claims', body, schema)).toEqual({ name: 'kept', enabled: false, claims: {} });
  expect(maskedBody('name,count', {}, schema)).toEqual({ name: '', count: 0 });
});

it.each<[string, unknown, string]>([
  ['a list that the body lacks', 'name,filters', 'mask: names "filters", which is no member of this body'],
  ['a member that there is not', 'nane', 'mask: names "nane", which is no member of this body'],
  ['itself twice', ['name', 'enabled'], 'mask: must be given once'],
])('a mask that names %s is refused', (_what, mask, description) => {
  expect(() => maskedBody(mask, { name: 'x' }, schema)).toThrow(
    expect.objectContaining({ code: 'bad_request', description }),
  );
});
