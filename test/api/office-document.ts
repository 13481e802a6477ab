import { deflateRawSync } from 'node:zlib';

const MAIN = {
  word: ['document', 'wordprocessingml.document'],
  xl: ['workbook', 'spreadsheetml.sheet'],
} as const;

/** A ZIP archive (without check sums) with the parts of an Office document; the list of parts stands first (as Word does) or last. */
export function officeDocument(kind: keyof typeof MAIN, list: 'first' | 'last'): Uint8Array {
  const [name, type] = MAIN[kind];
  const types = `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/${kind}/${name}.xml" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`;
  const parts: [string, string][] = [
    ['_rels/.rels', '<Relationships/>'],
    [`${kind}/${name}.xml`, '<x/>'.repeat(2000)],
  ];
  const listed: [string, string] = ['[Content_Types].xml', types];
  return zip(list === 'first' ? [listed, ...parts] : [...parts, listed]);
}

function zip(files: readonly [string, string][]): Uint8Array {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of files) {
    const data = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
