import { CONSOLE_TEXTS } from './console-texts.js';
import type { Wanted } from './conversation.js';
import { eventNames } from './event-names.js';
import type { EventPage } from './event-stream.js';
import { EvidenceText } from './evidence-text.js';
import type { PlaceLink } from './place-link.js';
import { SignIn } from './sign-in-view.js';
import { TimelineEvent } from './timeline-event.js';
import type { KnownConversation } from './use-conversation.js';

interface TimelineProps extends PlaceLink {
  readonly place: Wanted;
  readonly known: KnownConversation;
  /** The events were checked. */
  readonly isChecked: boolean;
}

/** The events of a place in their order, as far as they are read. */
export function Timeline({ place, known: { page, isPart = false, fault, reload }, isChecked, onGo }: TimelineProps) {
  const events = page?.events ?? [];
  const names = eventNames(events);
  return (
    <section class="part">
      <h2>{CONSOLE_TEXTS.timeline}</h2>
      <p class="hint" role="status">
        {page ? timelineText(page, isPart && !fault, isChecked) : fault ? '' : CONSOLE_TEXTS.loading}
      </p>
      {fault && <SignIn fault={fault} onAgain={reload} />}
      {page?.hidden.map((why) => (
        <p key={why}>
          <EvidenceText text={`${CONSOLE_TEXTS.hiddenTitle}: ${why}`} />
        </p>
      ))}
      <ol class="timeline">
        {events.map((event) => (
          <TimelineEvent key={event.identity} event={event} name={names.get(event) ?? ''} place={place} onGo={onGo} />
        ))}
      </ol>
    </section>
  );
}

function timelineText({ events, isLast }: EventPage, isReading: boolean, isChecked: boolean): string {
  if (isReading) return CONSOLE_TEXTS.reading(events.length);
  if (events.length === 0) return CONSOLE_TEXTS.notFound;
  const count = isLast ? CONSOLE_TEXTS.events(events.length) : CONSOLE_TEXTS.tooMany(events.length);
  return `${count}. ${isChecked ? CONSOLE_TEXTS.timelineChecked : CONSOLE_TEXTS.timelineHelp}`;
}
