import type { RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { conserverLines } from './conserver-lines.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { placeOf } from './conversation.js';
import { eventNames } from './event-names.js';
import { basicLines, codeLine, Lines, nameLine } from './event-view.js';
import { Code, EvidenceText } from './evidence-text.js';
import { FileChooser } from './file-chooser.js';
import { FindFilters } from './find-filters.js';
import type { HashedFile } from './hashed-file.js';
import { PlaceAnchor, type PlaceLink } from './place-link.js';
import { assetOf, type RecordedEvent } from './recorded-event.js';
import { isFiltered, type SearchQuery } from './search-query.js';
import type { Unanswered } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { TEXTS } from './texts.js';
import { useGrownList } from './use-grown-list.js';
import { type KeptSearch, type SearchState, useSearch } from './use-search.js';

interface FindProps extends PlaceLink {
  readonly query: SearchQuery;
  /** The query as text. */
  readonly search: string;
  readonly file: HashedFile | undefined;
  readonly kept: KeptSearch;
  onQuery(query: SearchQuery): void;
  onFile(file: File): void;
}

/** The search: one field, filters, a file, and what was found. */
export function FindView({ query, search, file, kept, onQuery, onFile, onGo }: FindProps) {
  const { state, more, opened, open } = useSearch(query, search, kept);
  const names = eventNames(state.events);
  const list = useRef<HTMLOListElement>(null);
  const expectMore = useGrownList(list, state.events.length, !state.isLast);
  useReturn(list, opened);
  const follow = (event: RecordedEvent) => (next: string) => {
    open(event);
    onGo(next);
  };
  const showMore = () => {
    if (state.isBusy) return;
    expectMore();
    more();
  };
  const dropped = query.hashes.length > 0 && file?.hashes.join() === query.hashes.join() ? file : undefined;
  return (
    <>
      <search>
        <form class="card" onSubmit={(event) => event.preventDefault()}>
          <SearchField query={query} file={dropped} onQuery={onQuery} onFile={onFile} />
          <FindFilters query={query} found={state.events} onQuery={onQuery} />
        </form>
      </search>
      <section class="part" aria-label={CONSOLE_TEXTS.results} aria-busy={state.isBusy}>
        <h2>{CONSOLE_TEXTS.results}</h2>
        <p role="status" class="hint">
          {statusText(state, query)}
        </p>
        {dropped && !state.fault && !state.isBusy && state.events.length === 0 && (
          <UnknownFile file={dropped} onGo={onGo} />
        )}
        {state.hidden.map((why) => (
          <p key={why} class="hint">
            <EvidenceText text={`${CONSOLE_TEXTS.hiddenTitle}: ${why}`} />
          </p>
        ))}
        <ol ref={list} class="timeline">
          {state.events.map((event) => (
            <FoundEvent key={event.identity} event={event} name={names.get(event)} onGo={follow(event)} />
          ))}
        </ol>
        {!state.isLast && (
          <>
            {state.fault && <SearchFault fault={state.fault} isFirst={state.events.length === 0} />}
            <p class="choose">
              <button type="button" aria-disabled={state.isBusy} onClick={showMore}>
                {state.fault || state.events.length === 0 ? TEXTS.again : CONSOLE_TEXTS.more}
              </button>
            </p>
          </>
        )}
      </section>
    </>
  );
}

/** Gives the focus to the entry that the reader opened, when they come back from it. */
function useReturn(list: RefObject<HTMLElement | null>, at: number): void {
  useEffect(() => list.current?.children[at]?.querySelector<HTMLElement>('h3 a')?.focus(), []);
}

function statusText({ events, isBusy, isLast, fault }: SearchState, query: SearchQuery): string {
  if (isBusy) return CONSOLE_TEXTS.busy;
  if (events.length > 0) return CONSOLE_TEXTS.found(events.length, isLast);
  if (fault) return '';
  const isOpen = query.text.trim() === '' && query.hashes.length === 0;
  return isOpen && !isFiltered(query) ? CONSOLE_TEXTS.nothingYet : CONSOLE_TEXTS.nothing;
}

/** Above the button that tries again; what was found stays above it. */
function SearchFault({ fault, isFirst }: { readonly fault: Unanswered; readonly isFirst: boolean }) {
  if (fault.reason === 'signed_out') return <SignIn fault={fault} />;
  return (
    <p class="fault" role="alert">
      {isFirst ? fault.message : CONSOLE_TEXTS.moreFailed(fault.message)}
    </p>
  );
}

function SearchField({ query, file, onQuery, onFile }: Pick<FindProps, 'query' | 'file' | 'onQuery' | 'onFile'>) {
  const id = useId();
  if (query.hashes.length > 0)
    return (
      <div class="field">
        <p>
          <strong>
            <EvidenceText text={CONSOLE_TEXTS.forFile(file?.name ?? query.hashes[0]!)} />
          </strong>
        </p>
        {file && (
          <p class="hint">
            {CONSOLE_TEXTS.fileHash}: <Code text={query.hashes[0]!} />
          </p>
        )}
        <button type="button" onClick={() => onQuery({ ...query, hashes: [] })}>
          {CONSOLE_TEXTS.removeFile}
        </button>
      </div>
    );
  return (
    <div class="field">
      <label for={id}>{CONSOLE_TEXTS.search}</label>
      <input
        id={id}
        type="search"
        value={query.text}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        aria-describedby={`${id}-help`}
        onInput={(event) => onQuery({ ...query, text: event.currentTarget.value })}
      />
      <p id={`${id}-help`} class="hint">
        {CONSOLE_TEXTS.searchHelp}
      </p>
      <FileChooser label={CONSOLE_TEXTS.chooseFile} chooses="file" onFiles={([chosen]) => chosen && onFile(chosen)} />
    </div>
  );
}

interface FoundProps extends PlaceLink {
  readonly event: RecordedEvent;
  /** What to call it where only its link is heard. */
  readonly name: string | undefined;
}

function FoundEvent({ event, name, onGo }: FoundProps) {
  return (
    <li class="operation">
      <h3>
        <PlaceAnchor place={placeOf(event)} name={name} onGo={onGo}>
          <EvidenceText text={event.title} />
        </PlaceAnchor>
      </h3>
      <Lines
        lines={[
          ...nameLine(event),
          ...basicLines(event),
          ...conserverLines(event),
          ...codeLine(CONSOLE_TEXTS.subject, event.subject),
          ...codeLine(CONSOLE_TEXTS.asset, event.subject === undefined ? assetOf(event) : undefined),
          ...codeLine(CONSOLE_TEXTS.hash, event.payload),
        ]}
      />
    </li>
  );
}

function UnknownFile({ file, onGo }: PlaceLink & { readonly file: HashedFile }) {
  return (
    <div class="banner unreadable">
      <div>
        <h3>
          <EvidenceText text={CONSOLE_TEXTS.fileUnknown(file.name)} />
        </h3>
        {file.subject !== undefined && (
          <p>
            {CONSOLE_TEXTS.fileKnownId}{' '}
            <PlaceAnchor place={{ kind: 'conversation', id: file.subject }} onGo={onGo}>
              {CONSOLE_TEXTS.seeConversation}
            </PlaceAnchor>
          </p>
        )}
      </div>
    </div>
  );
}
