/** Unix milliseconds of the last time that RFC 3339 can write: a year has four digits. Later times are refused in evidence. */
export const LAST_TIME_MS = 253_402_300_799_999;
