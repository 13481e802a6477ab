/** Looks for what callers wait for: one look at a time, until nobody waits. */
interface RepeatedLook {
  /** Looks now, or again after the look under way. */
  look(): void;
  /** Plans the next look for after a pause that begins now, if somebody still waits. Otherwise calls `ended`. */
  rest(): void;
  readonly isLooking: boolean;
  /** Cancels the planned look. */
  close(): void;
}

/** Returns looks of which none has begun. */
export function repeatLook(parts: {
  readonly look: () => Promise<void>;
  readonly isAwaited: () => boolean;
  /** Milliseconds from the end of a look to the next one. */
  readonly pauseMs: number;
  /** Called with the error of a look; it is repeated after the pause. */
  readonly failed: (error: unknown) => void;
  /** Called when nobody waits and no look is under way. */
  readonly ended: () => void;
}): RepeatedLook {
  /** Something may be there that the last look did not see. */
  let isStale = false;
  let isLooking = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    isStale = true;
    if (!isLooking) void lookWhileStale();
  }

  async function lookWhileStale(): Promise<void> {
    isLooking = true;
    try {
      while (isStale && parts.isAwaited()) {
        isStale = false;
        await parts.look();
      }
    } catch (error) {
      parts.failed(error);
    } finally {
      isLooking = false;
    }
    rest();
  }

  function rest(): void {
    clearTimeout(timer);
    if (parts.isAwaited()) timer = setTimeout(look, parts.pauseMs).unref();
    else if (!isLooking) parts.ended();
  }

  return {
    look,
    rest,
    get isLooking() {
      return isLooking;
    },
    close: () => clearTimeout(timer),
  };
}
