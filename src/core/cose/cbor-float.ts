/**
 * A floating point number in CBOR that somebody else signed; always finite. It is not a `number`, so that nothing takes
 * 1.0 for the integer 1: other readers tell them apart.
 */
export class CborFloat {
  constructor(readonly value: number) {}

  /** In diagnostic notation (RFC 8949 section 8): with a point or an exponent. */
  toString(): string {
    return Number.isInteger(this.value) ? this.value.toFixed(1) : String(this.value);
  }
}

/** Returns what two bytes hold as IEEE 754 binary16; NaN also for what is infinite. */
export function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 31;
  if (exponent === 31) return Number.NaN;
  const size = exponent === 0 ? (bits & 1023) * 2 ** -24 : (1024 + (bits & 1023)) * 2 ** (exponent - 25);
  return bits >> 15 ? -size : size;
}
