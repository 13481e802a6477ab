/**
 * The time of all members of zips: the earliest that zip knows. The real time would make the same files differ at each
 * request. It names no time zone, because zip stores local time: the bytes are the same in every time zone.
 */
export const ZIP_TIME = '1980-01-01T00:00:00';
