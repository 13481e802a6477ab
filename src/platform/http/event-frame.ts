/** One message of a stream of server-sent events (HTML Living Standard, 9.2). */
interface ServerSentEvent {
  /** What a client sends as `Last-Event-ID` when it connects again; one line. */
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
  /** Milliseconds after which a client connects again. */
  readonly retry?: number;
}

export const EVENT_STREAM = 'text/event-stream';

/** The bytes of a message as text; JSON has no line ends, so its data is one line. */
export function eventFrame({ id, event, data, retry }: ServerSentEvent): string {
  const lines = [
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `event: ${event}`,
    `data: ${JSON.stringify(data)}`,
  ];
  return `${lines.join('\n')}\n\n`;
}

/** A sign of life: clients that ignore comments still take over the id, which makes no event without data. */
export function idleFrame(id: string): string {
  return `:\nid: ${id}\n\n`;
}
