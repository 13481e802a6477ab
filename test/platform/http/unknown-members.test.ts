import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { unknownMembers } from '../../../src/platform/http/unknown-members.js';

const schema = z.object({
  name: z.string(),
  place: z.object({ city: z.string() }).nullish(),
  list: z.array(z.object({ or: z.string() })).default([]),
  free: z.record(z.string(), z.unknown()).optional(),
});

describe('members that a schema does not know', () => {
  it('are named by their path, at any depth', () => {
    const body = { nmae: 1, name: 'a', place: { city: 'b', zip: 1 }, list: [{ or: 'c' }, { and: 'd', or: 'e' }] };
    expect(unknownMembers(schema, body)).toEqual(['nmae', 'place.zip', 'list.1.and']);
  });

  it('are none where any member is accepted', () => {
    expect(unknownMembers(schema, { name: 'a', free: { anything: { at: 'all' } }, place: null })).toEqual([]);
    expect(unknownMembers(z.looseObject({}), { a: 1 })).toEqual([]);
  });

  it('are found behind a transform, and an inherited name is not known', () => {
    const piped = schema.transform((body) => body.name);
    expect(unknownMembers(piped, { name: 'a', toString: 1 })).toEqual(['toString']);
  });
});
