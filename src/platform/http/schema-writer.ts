import { type ZodType, z } from 'zod';

type Json = Record<string, unknown>;

/** Writes the schemas of one document: those with a name once, under that name. */
export interface SchemaWriter {
  /** JSON Schema 2020-12; named schemas become references. */
  of(schema: ZodType, io: 'input' | 'output'): Json;
  readonly names: readonly string[];
  named(name: string): Json;
}

/** A writer that gives each of these schemas the name that it stands under. */
export function schemaWriter(schemas: Readonly<Record<string, ZodType>>): SchemaWriter {
  const registry = z.registry<{ id: string }>();
  const names = new Map<ZodType, string>();
  for (const [id, schema] of Object.entries(schemas)) {
    registry.add(schema, { id });
    names.set(schema, id);
  }
  const written = (schema: ZodType, io: 'input' | 'output'): Json => {
    const json = z.toJSONSchema(schema, {
      unrepresentable: 'any',
      io,
      // A name stands for the response form; a request may leave out members that a response always has.
      ...(io === 'output' ? { metadata: withGlobal(registry) } : {}),
    }) as Json;
    const { $schema: _, $defs = {}, id: __, $id: ___, ...rest } = json;
    // A schema with a name is written as a reference to itself.
    const own = names.get(schema);
    const { id: ____, ...itself } = (own === undefined ? rest : (($defs as Json)[own] ?? rest)) as Json;
    return pointing(itself) as Json;
  };
  return {
    of: (schema, io) => {
      const name = io === 'output' ? names.get(schema) : undefined;
      return name ? { $ref: `#/components/schemas/${name}` } : written(schema, io);
    },
    names: Object.keys(schemas),
    named: (name) => written(schemas[name]!, 'output'),
  };
}

/** Metadata of the schema itself, such as a format, with its name. */
function withGlobal(registry: { get(schema: ZodType): { id: string } | undefined }): typeof z.globalRegistry {
  const both = { get: (schema: ZodType) => ({ ...z.globalRegistry.get(schema), ...registry.get(schema) }) };
  return both as unknown as typeof z.globalRegistry;
}

/** References that are local to one schema, rewritten as references into the document. */
function pointing(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(pointing);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => {
      if (name === '$ref' && typeof value === 'string')
        return [name, value.replace('#/$defs/', '#/components/schemas/')];
      return [name, pointing(value)];
    }),
  );
}
