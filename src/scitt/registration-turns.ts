/** So many go on beside the group under way: what a group costs is then little beside its members. */
const MOST_HELD = 16;
/** After the receipts of a group, so that its callers' next statements go with those that are held. */
const LINGER_MS = 2;
/** A group whose receipts take longer does not hold others. */
const LONGEST_MS = 25;

/** The turn of one registration that waits for its receipt. */
export interface RegistrationTurn {
  /** Its statement was judged, and would be accepted now. A promise if it is held until others have their receipts. */
  come(): Promise<void> | undefined;
  /** It has its receipt, or waits no longer. */
  end(): void;
}

/**
 * Registrations that wait for their receipts, in groups. Each group takes one transaction and one round of its log, which
 * cost little more for sixteen statements than for one. So while a group is under way, the next one gathers.
 */
export interface RegistrationTurns {
  begin(): RegistrationTurn;
}

export function createRegistrationTurns(): RegistrationTurns {
  /** How many are being judged, and how many have gone on and not ended. */
  let [judging, going] = [0, 0];
  /** Who is judged still goes on with the group under way: from its begin until nobody is being judged. */
  let isOpen = false;
  let held: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function letGo(): void {
    clearTimeout(timer);
    const group = held;
    held = [];
    going += group.length;
    isOpen = judging > 0;
    for (const goOn of group) goOn();
  }

  function hold(): Promise<void> {
    return new Promise((resolve) => {
      if (held.push(resolve) === 1) timer = setTimeout(letGo, LONGEST_MS);
      if (held.length === MOST_HELD) letGo();
    });
  }

  function judged(): void {
    judging -= 1;
    if (judging === 0) isOpen = false;
  }

  function ended(): void {
    going -= 1;
    if (going > 0 || held.length === 0) return;
    clearTimeout(timer);
    timer = setTimeout(letGo, LINGER_MS);
  }

  return {
    begin() {
      judging += 1;
      let end = judged;
      return {
        come() {
          const begins = going === 0 && held.length === 0;
          const goesOn = begins || isOpen;
          isOpen ||= begins;
          judged();
          end = ended;
          if (!goesOn) return hold();
          going += 1;
          return undefined;
        },
        end: () => end(),
      };
    },
  };
}
