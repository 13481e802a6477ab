import { ASSET_TEXTS } from './asset-texts.js';
import { conserverLines } from './conserver-lines.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import type { Wanted } from './conversation.js';
import { evidenceName, readEvidence } from './event-evidence.js';
import { basicLines, codeLine, EventView, nameLine } from './event-view.js';
import { Code, EvidenceText } from './evidence-text.js';
import { type Json, memberOf } from './json-members.js';
import { Moment } from './moment.js';
import { PlaceAnchor, type PlaceLink } from './place-link.js';
import { assetOf, type RecordedEvent } from './recorded-event.js';
import { saveFile } from './save-file.js';
import { onService } from './service-path.js';
import { SignInAgain } from './sign-in-view.js';
import { TEXTS } from './texts.js';
import { useAct } from './use-act.js';
import { isUnfinished } from './use-live.js';

interface TimelineProps extends PlaceLink {
  readonly event: RecordedEvent;
  /** What to call it where only its links are heard. */
  readonly name: string;
  readonly place: Wanted;
}

/** An event of a conversation: what the service shows of it, and where it leads. */
export function TimelineEvent({ event, name, place, onGo }: TimelineProps) {
  const isOther = place.kind === 'conversation' && event.subject !== place.id;
  const declared = event.json['timestamp_declared'];
  const saving = useAct();
  const save = () =>
    saving.run(async () => {
      saveFile(evidenceName(event), new Blob([new Uint8Array(await readEvidence(event))]));
      return '';
    });
  return (
    <EventView
      event={event}
      lines={[
        ...nameLine(event),
        ...basicLines(event),
        ...conserverLines(event),
        ...codeLine(CONSOLE_TEXTS.subject, isOther ? event.subject : undefined),
        ...codeLine(CONSOLE_TEXTS.hash, event.payload),
        ...(typeof declared === 'string' && declared !== ''
          ? [{ title: TEXTS.facts['declared']!, value: <Moment time={declared} /> }]
          : []),
      ]}
    >
      {isOther && event.subject !== undefined && <p class="hint">{CONSOLE_TEXTS.successor}</p>}
      <Attachments event={event} name={name} />
      <p class="choose">
        <AssetLinks event={event} name={name} place={place} onGo={onGo} />
        {!isUnfinished(event) && (
          <button
            type="button"
            class="quiet"
            aria-label={TEXTS.ofRow(CONSOLE_TEXTS.saveEvidence, name)}
            aria-disabled={saving.isBusy}
            onClick={save}
          >
            {CONSOLE_TEXTS.saveEvidence}
          </button>
        )}
      </p>
      {saving.fault !== '' && (
        <p role="alert" class="fault">
          <EvidenceText text={saving.fault} />
        </p>
      )}
      {saving.isSignedOut && <SignInAgain />}
    </EventView>
  );
}

/** To the asset of the event, and to what it was after the event. */
function AssetLinks({ event, name, place, onGo }: TimelineProps) {
  const asset = assetOf(event);
  if (asset === undefined) return null;
  return (
    <>
      {place.kind !== 'asset' && (
        <PlaceAnchor
          place={{ kind: 'asset', id: asset }}
          name={TEXTS.ofRow(CONSOLE_TEXTS.wholeAsset, name)}
          onGo={onGo}
        >
          {CONSOLE_TEXTS.wholeAsset}
        </PlaceAnchor>
      )}
      <PlaceAnchor
        place={{ kind: 'asset', id: asset, at: event.accepted }}
        name={TEXTS.ofRow(ASSET_TEXTS.afterEvent, name)}
        onGo={onGo}
      >
        {ASSET_TEXTS.afterEvent}
      </PlaceAnchor>
    </>
  );
}

/** Files that the event carries; the service decides again whether the reader may have one. */
function Attachments({ event, name: ofEvent }: Pick<TimelineProps, 'event' | 'name'>) {
  // An attribute of the event and one of its asset may have the same name.
  const attributes = [event.attributes, (event.json['asset_attributes'] ?? {}) as Json].flatMap(Object.entries);
  const found = attributes.flatMap(([name, value]) => {
    const blob = memberOf(value, 'arc_blob_identity');
    return typeof blob === 'string' ? [{ name, value, blob: blob.slice(blob.lastIndexOf('/') + 1) }] : [];
  });
  if (found.length === 0 || !event.identity.startsWith('assets/')) return null;
  return (
    <>
      <h4>{CONSOLE_TEXTS.attachments}</h4>
      <ul class="plain">
        {found.map(({ name, value, blob }, at) => {
          const open = CONSOLE_TEXTS.attachment(String(memberOf(value, 'arc_display_name') ?? name));
          const href = onService(`/archivist/v2/attachments/${event.identity}/${encodeURIComponent(blob)}`);
          return (
            <li key={at}>
              <a href={href} aria-label={TEXTS.ofRow(open, ofEvent)} download>
                <EvidenceText text={open} />
              </a>{' '}
              <Code text={String(memberOf(value, 'arc_blob_hash_value') ?? '')} />
            </li>
          );
        })}
      </ul>
    </>
  );
}
