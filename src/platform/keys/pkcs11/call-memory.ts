import type { Koffi } from './load-koffi.js';

/** A CK_ULONG: the modules that we load are of 64-bit machines, which have their bytes in little-endian order. */
const ULONG = 8;
const SIZE = 16 * 1024;

/** An attribute of a template: raw bytes, a CK_BBOOL or a CK_ULONG. */
export type Attribute = readonly [type: bigint, value: Uint8Array | boolean | bigint];

/**
 * Memory outside the heap for the arguments of successive calls, so that nothing moves while a thread of the module
 * reads or writes it.
 */
export interface CallMemory {
  /** Wipes what earlier calls left. */
  clear(): void;
  put(bytes: Uint8Array): bigint;
  room(length: number): { readonly address: bigint; bytes(length?: number): Uint8Array };
  ulong(value?: bigint): { readonly address: bigint; value(): bigint };
  /** A CK_MECHANISM without parameters. */
  mechanism(type: bigint): bigint;
  /** An array of CK_ATTRIBUTE. */
  template(attributes: readonly Attribute[]): readonly [address: bigint, count: number];
  /** Wipes and frees the memory; it must not be used afterwards. */
  free(): void;
}

export function callMemory(koffi: Koffi): CallMemory {
  const base = BigInt(koffi.alloc('uint8_t', SIZE));
  const view = Buffer.from(koffi.view(base, SIZE));
  let used = 0;

  function take(length: number): number {
    const start = used;
    if (length > SIZE - start) throw new RangeError('the arguments of a call to a PKCS #11 module are too long');
    used = Math.ceil((start + length) / ULONG) * ULONG;
    return start;
  }

  function put(bytes: Uint8Array): bigint {
    const start = take(bytes.length);
    view.set(bytes, start);
    return base + BigInt(start);
  }

  const words = (...values: readonly bigint[]): bigint => put(wordBytes(values));

  return {
    clear() {
      view.fill(0, 0, used);
      used = 0;
    },
    put,
    room(length) {
      const start = take(length);
      return {
        address: base + BigInt(start),
        bytes: (count = length) => Uint8Array.from(view.subarray(start, start + count)),
      };
    },
    ulong(value = 0n) {
      const address = words(value);
      return { address, value: () => view.readBigUInt64LE(Number(address - base)) };
    },
    mechanism: (type) => words(type, 0n, 0n),
    template(attributes) {
      const rows = attributes.flatMap(([type, value]) => {
        const bytes = valueBytes(value);
        return [type, put(bytes), BigInt(bytes.length)];
      });
      return [words(...rows), attributes.length];
    },
    free() {
      view.fill(0);
      koffi.free(base);
    },
  };
}

function wordBytes(values: readonly bigint[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * ULONG);
  for (const [place, value] of values.entries()) bytes.writeBigUInt64LE(value, place * ULONG);
  return bytes;
}

function valueBytes(value: Attribute[1]): Uint8Array {
  if (typeof value === 'boolean') return Uint8Array.of(value ? 1 : 0);
  return typeof value === 'bigint' ? wordBytes([value]) : value;
}
