import { useEffect, useRef, useState } from 'preact/hooks';
import { AssetCompliance } from './asset-compliance.js';
import { AssetState } from './asset-state.js';
import { checkConversation, type ShownState } from './check-conversation.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import type { Wanted } from './conversation.js';
import { Code, EvidenceText } from './evidence-text.js';
import { FileChooser } from './file-chooser.js';
import type { HashedFile } from './hashed-file.js';
import type { Json } from './json-members.js';
import { encodeManifest } from './kept-trust.js';
import { Moment } from './moment.js';
import type { PlaceLink } from './place-link.js';
import { PublicPages } from './public-page.js';
import { assetOf, type RecordedEvent } from './recorded-event.js';
import { hasVerdict } from './result-view.js';
import { SignInAgain } from './sign-in-view.js';
import { StatedCheck } from './stated-check.js';
import { Timeline } from './timeline.js';
import { useAnswerFocus } from './use-answer-focus.js';
import { useCheck } from './use-check.js';
import { useConversation } from './use-conversation.js';
import { useStatedTrust } from './use-stated-trust.js';

interface ConversationProps extends PlaceLink {
  readonly place: Wanted;
  readonly file: HashedFile | undefined;
  onFile(file: File): void;
  onBack(): void;
}

/** Everything that happened to a conversation, and the check of its evidence. */
export function ConversationView({ place, file, onFile, onBack, onGo }: ConversationProps) {
  const known = useConversation(place);
  /** How often the reader has asked for a check of this place. */
  const [asked, setAsked] = useState(0);
  const [isAnswered, setAnswered] = useState(false);
  const [attributes, setAttributes] = useState<Json>();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setAsked(0);
    setAnswered(false);
    setAttributes(undefined);
    title.current?.focus();
  }, [place.kind, place.id, place.at]);
  const { page, isPart } = known;
  const events = page?.events ?? [];
  const whole = isPart ? undefined : page;
  return (
    <>
      <p>
        <button type="button" class="quiet" onClick={onBack}>
          ← {CONSOLE_TEXTS.back}
        </button>
      </p>
      <h2 ref={title} tabIndex={-1} class="place">
        {CONSOLE_TEXTS[place.kind]} <Code text={place.id} />
        {place.at !== undefined && (
          <>
            , {CONSOLE_TEXTS.asItWas} <Moment time={place.at} />
          </>
        )}
      </h2>
      {whole && events.length > 0 && (
        <CheckView
          events={events}
          file={file}
          state={attributes && { attributes, isWhole: whole.isLast && whole.hidden.length === 0 }}
          asked={asked}
          onStart={() => setAsked(asked + 1)}
          onAnswer={setAnswered}
          onFile={onFile}
        />
      )}
      {place.kind === 'asset' && page && (
        <AssetState asset={place.id} at={place.at} onShown={setAttributes} onGo={onGo} />
      )}
      {place.kind === 'asset' && events.length > 0 && <AssetCompliance asset={place.id} at={place.at} onGo={onGo} />}
      {place.kind !== 'asset' && whole && <PublicPages assets={assetsOf(events)} />}
      <Timeline place={place} known={known} isChecked={isAnswered} onGo={onGo} />
    </>
  );
}

/** The assets of events, each once. */
function assetsOf(events: readonly RecordedEvent[]): string[] {
  return [...new Set(events.flatMap((event) => assetOf(event) ?? []))];
}

interface CheckProps {
  readonly events: readonly RecordedEvent[];
  readonly file: HashedFile | undefined;
  readonly state: ShownState | undefined;
  readonly asked: number;
  onStart(): void;
  /** Told whether there is an answer that says what is proven. */
  onAnswer(isAnswered: boolean): void;
  onFile(file: File): void;
}

/** One button, the reader's trust, and the verdict. */
function CheckView({ events, file, state, asked, onStart, onAnswer, onFile }: CheckProps) {
  const trust = useStatedTrust();
  const isReady = asked > 0 && trust.isReadable;
  const check = (tell: (done: string) => void) => checkConversation(events, file, trust.reader, tell, state);
  const checked = useCheck(isReady ? check : undefined, [
    events,
    file,
    state?.attributes,
    state?.isWhole,
    trust.own,
    isReady,
    asked,
  ]);
  const { result, progress } = checked;
  const isBusy = progress !== undefined;
  const { heading, ask } = useAnswerFocus(result);
  useEffect(() => {
    onAnswer(hasVerdict(result));
    if (result && 'root' in result && result.root && result.origin === 'pinned_root')
      trust.setManifest(encodeManifest(result.root.source));
  }, [result]);
  const start = () => {
    if (isBusy) return;
    ask();
    onStart();
  };
  return (
    <>
      <p class="choose">
        <button type="button" class="primary" aria-disabled={isBusy} onClick={start}>
          {CONSOLE_TEXTS.check}
        </button>{' '}
        <FileChooser label={CONSOLE_TEXTS.addFile} chooses="file" onFiles={([chosen]) => chosen && onFile(chosen)} />{' '}
        <span class="hint">
          <EvidenceText text={file ? CONSOLE_TEXTS.checkFile(file.name) : CONSOLE_TEXTS.checkHelp} />
        </span>
      </p>
      <StatedCheck isStarted={asked > 0} trust={trust} check={checked} heading={heading} />
      {result && 'problem' in result && result.isSignedOut && <SignInAgain />}
    </>
  );
}
