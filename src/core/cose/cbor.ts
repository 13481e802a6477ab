export { type CborLimits, type CborMap, type CborValue, decodeCbor, decodeCborSequence } from './cbor-reader.js';
export { encodeCbor, joinCbor } from './cbor-writer.js';
