import { Buffer } from 'node:buffer';

/** What the driver binds to a statement, as it asks the connection for it. */
export interface BindRequest {
  readonly portal?: string | undefined;
  readonly statement?: string | undefined;
  readonly binary?: boolean | undefined;
  readonly values?: readonly unknown[] | undefined;
  /** Makes a text, bytes or null of a value. */
  readonly valueMapper?: ((value: unknown, place: number) => unknown) | undefined;
}

/** A text, or bytes in the binary form of the type at their place. */
type BoundValue = string | Uint8Array | null;

/** @throws what the driver's mapper throws for a value that it cannot write */
export function boundValues({ values = [], valueMapper }: BindRequest): BoundValue[] {
  return values.map((value, place) => (valueMapper ? valueMapper(value, place) : value) as BoundValue);
}

/** The message `Bind` of the protocol (PostgreSQL 17, section 53.7). */
export function bindMessage({ portal, statement, binary }: BindRequest, values: readonly BoundValue[]): Uint8Array {
  // A letter and the length, which is not known yet.
  const head = Buffer.from(`B....${portal ?? ''}\0${statement ?? ''}\0`);
  const lengths = values.map((value) => (value === null ? 0 : Buffer.byteLength(value)));
  const message = Buffer.allocUnsafe(lengths.reduce((sum, each) => sum + 6 + each, head.length + 8));
  let place = head.copy(message);
  message.writeInt32BE(message.length - 1, 1);
  place = message.writeUInt16BE(values.length, place);
  for (const value of values) place = message.writeInt16BE(value instanceof Uint8Array ? 1 : 0, place);
  place = message.writeUInt16BE(values.length, place);
  for (const [number, value] of values.entries()) {
    place = message.writeInt32BE(value === null ? -1 : lengths[number]!, place);
    if (typeof value === 'string') message.write(value, place);
    else if (value !== null) message.set(value, place);
    place += lengths[number]!;
  }
  place = message.writeInt16BE(1, place);
  message.writeInt16BE(binary ? 1 : 0, place);
  return message;
}
