/** When a UUIDv7 was created, in Unix milliseconds (RFC 9562 section 5.7); undefined for other versions. */
export function uuidTimeMs(uuid: string): number | undefined {
  const hex = uuid.replaceAll('-', '');
  return hex[12] === '7' ? Number.parseInt(hex.slice(0, 12), 16) : undefined;
}

/** An id before every UUIDv7 of this time, in Unix milliseconds, and after all those of earlier ones. */
export function firstUuidOf(timeMs: number): string {
  const hex = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
