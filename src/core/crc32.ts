const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Returns the CRC-32 of zip and gzip (RFC 1952 section 8). It finds accidents; anybody can make bytes that fit it. */
export function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  // An index: an iterator takes several times as long, until the engine has compiled the loop.
  for (let at = 0; at < bytes.length; at += 1) crc = TABLE[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
