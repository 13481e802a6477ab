export { type CborLimits, type CborMap, type CborValue, decodeCbor } from './cbor-reader.js';
export { encodeCbor } from './cbor-writer.js';
