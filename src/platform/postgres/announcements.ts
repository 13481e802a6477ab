import { EventEmitter } from 'node:events';

type Listener = (text: string | undefined, detail?: unknown) => void;

/**
 * Short messages to all processes of a deployment. Only hints: a message is lost while the database cannot be reached.
 */
export interface Announcements {
  /**
   * Sends a text of at most 1,000 bytes, first to the listeners of this process. Never fails and never waits.
   * @param detail reaches only the listeners of this process
   */
  announce(channel: string, text: string, detail?: unknown): void;
  /**
   * Hears what any process announces. Without a text, messages may have been missed. @returns a function that stops it
   */
  hear(channel: string, listener: Listener): () => void;
  close(): Promise<void>;
}

/** The listeners of one process. */
interface LocalAnnouncements extends Announcements {
  /** Tells the listeners of a channel; without a channel, those of all channels. */
  tell(channel: string | undefined, text: string | undefined): void;
}

/** Announcements where one process has the whole deployment. */
export function localAnnouncements(): LocalAnnouncements {
  const emitter = new EventEmitter().setMaxListeners(0);
  const tell = (channel: string | undefined, text: string | undefined, detail?: unknown): void => {
    for (const each of channel === undefined ? emitter.eventNames() : [channel]) emitter.emit(each, text, detail);
  };
  return {
    tell,
    announce: tell,
    hear(channel, listener) {
      emitter.on(channel, listener);
      return () => void emitter.off(channel, listener);
    },
    close: async () => undefined,
  };
}
