import { namesIn } from './conserver-names.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import type { Line } from './event-view.js';
import { EvidenceText } from './evidence-text.js';
import type { RecordedEvent } from './recorded-event.js';

/** The chain, the link and the partner of an event, as far as it names them. */
export function conserverLines(event: RecordedEvent): Line[] {
  return (['chain', 'link', 'partner'] as const).flatMap((of) => {
    const names = namesIn([event], of);
    return names.length === 0 ? [] : [{ title: CONSOLE_TEXTS[of], value: <EvidenceText text={names.join(', ')} /> }];
  });
}
