import { z } from 'zod';

/**
 * Returns members of a body that its schema does not know, as dotted paths in the body's order. A schema that accepts
 * any member (records, loose objects, unions) knows them all.
 */
export function unknownMembers(schema: z.ZodType, value: unknown, path: readonly string[] = []): string[] {
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodArray && Array.isArray(value))
    return value.flatMap((entry, place) => unknownMembers(plain.element as z.ZodType, entry, [...path, String(place)]));
  if (!(plain instanceof z.ZodObject) || typeof value !== 'object' || value === null) return [];
  if (plain.def.catchall) return [];
  const shape = plain.shape as Readonly<Record<string, z.ZodType>>;
  return Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return known ? unknownMembers(known, member, [...path, name]) : [[...path, name].join('.')];
  });
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapped(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodPipe ? unwrapped(schema.in as z.ZodType) : schema;
}
