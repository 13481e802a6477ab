import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Navigation, viewOf, viewsFor } from './console-navigation.js';
import { CONSOLE_TEXTS } from './console-texts.js';
import { ConsoleView, titlesOf } from './console-view.js';
import type { Wanted } from './conversation.js';
import { ConversationView } from './conversation-view.js';
import { EvidenceText } from './evidence-text.js';
import { FindView } from './find-view.js';
import { Frame } from './frame.js';
import type { GivenFile } from './given-files.js';
import { type HashedFile, hashedFile } from './hashed-file.js';
import { memberOf, textOf } from './json-members.js';
import { faultText } from './read-service.js';
import { readQuery, type SearchQuery, writeQuery } from './search-query.js';
import { readJson, signOut, Unanswered } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { TEXTS } from './texts.js';
import { useAct } from './use-act.js';
import type { ComplianceReading } from './use-compliance.js';
import { useDrop } from './use-drop.js';
import { usePlace } from './use-place.js';
import type { KeptSearch } from './use-search.js';

/** The signed-in caller, as the service names it. */
interface Reader {
  readonly name: string;
  readonly isOwner: boolean;
}

const KINDS: readonly Wanted['kind'][] = ['conversation', 'asset', 'event'];

function useReader() {
  const [state, setState] = useState<{ readonly reader?: Reader; readonly fault?: Unanswered }>({});
  const ask = () =>
    readJson('/archivist/iam/v1/principal')
      .then((answer) => {
        const roles = memberOf(answer, 'roles');
        const name = textOf(
          memberOf(answer, 'display_name') || memberOf(answer, 'email') || memberOf(answer, 'subject'),
        );
        setState({ reader: { name, isOwner: Array.isArray(roles) && roles.includes('OWNER') } });
      })
      .catch((error: unknown) => {
        if (!(error instanceof Unanswered)) throw error;
        // A service that is away for a moment takes nothing from the page that is open.
        setState((old) => (old.reader && error.reason !== 'signed_out' ? old : { fault: error }));
      });
  useEffect(() => {
    ask();
    // A session can end in another tab, or while the page lies open.
    const again = () => document.visibilityState === 'visible' && ask();
    document.addEventListener('visibilitychange', again);
    return () => document.removeEventListener('visibilitychange', again);
  }, []);
  return { ...state, ask };
}

function Account({ reader }: { readonly reader: Reader }) {
  const { isBusy, fault, run } = useAct();
  const leave = (everywhere: boolean) =>
    run(async () => {
      await signOut(everywhere);
      location.reload();
      return '';
    });
  return (
    <>
      <div class="account">
        <span>
          <EvidenceText text={CONSOLE_TEXTS.signedInAs(reader.name)} />
        </span>
        <button type="button" class="quiet" aria-disabled={isBusy} onClick={() => leave(false)}>
          {CONSOLE_TEXTS.signOut}
        </button>
        <button type="button" class="quiet" aria-disabled={isBusy} onClick={() => leave(true)}>
          {CONSOLE_TEXTS.signOutEverywhere}
        </button>
      </div>
      {fault !== '' && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {!reader.isOwner && <p class="hint">{CONSOLE_TEXTS.partly}</p>}
    </>
  );
}

/** What the address bar asks for: a place, or a search. */
function wanted(parameters: URLSearchParams): Wanted | undefined {
  for (const kind of KINDS) {
    const id = parameters.get(kind);
    const at = kind === 'asset' ? parameters.get('at') : null;
    if (id) return { kind, id, ...(at && { at }) };
  }
  return undefined;
}

/** The reader's file. @param onHashed told of each that is taken */
function useFile(onHashed: (file: HashedFile) => void) {
  const [file, setFile] = useState<HashedFile>();
  const [fileFault, setFileFault] = useState('');
  const take = async (given: File) => {
    try {
      const hashed = await hashedFile(given);
      setFileFault('');
      setFile(hashed);
      onHashed(hashed);
    } catch {
      setFileFault(TEXTS.unreadableFile(given.name));
    }
  };
  const drop = (given: Promise<readonly GivenFile[]>) =>
    given.then(
      ([first]) => first && take(first.file),
      (error: unknown) => setFileFault(faultText(error)),
    );
  return { file, fileFault, take, drop };
}

interface NobodyProps {
  readonly fault: Unanswered | undefined;
  onAgain(): void;
}

/** In place of what a reader sees, as long as the service has not said who reads. */
function Nobody({ fault, onAgain }: NobodyProps) {
  if (fault) return <SignIn fault={fault} isFirst onAgain={onAgain} />;
  return (
    <p role="status" class="loading">
      {CONSOLE_TEXTS.loading}
    </p>
  );
}

function ConsolePage() {
  const { reader, fault, ask } = useReader();
  const { parameters, search, go } = usePlace();
  const place = wanted(parameters);
  const view = viewOf(parameters);
  const query = readQuery(parameters);
  const { file, fileFault, take, drop } = useFile(({ hashes }) => {
    if (!place || view !== 'find') go(writeQuery({ ...query, text: '', hashes }), true);
  });
  const isOver = useDrop(drop);
  const change = (next: SearchQuery) => go(writeQuery(next), next.hashes.length !== query.hashes.length);
  const { title, introduction } =
    place && view === 'find'
      ? { title: CONSOLE_TEXTS.places[place.kind], introduction: CONSOLE_TEXTS.placeHelp }
      : titlesOf(view);
  useEffect(() => {
    document.title = `${place ? `${CONSOLE_TEXTS[place.kind]} ${place.id}` : title} – vcon-archivist`;
  }, [search]);
  const onGo = (next: string) => go(next, true);
  const kept = useRef<ComplianceReading | undefined>(undefined);
  const keptSearch: KeptSearch = useRef(undefined);
  const onView = (next: string) => {
    // Who comes back to a search or to the page of compliance goes on there; who opens it reads anew.
    kept.current = undefined;
    keptSearch.current = undefined;
    onGo(next);
  };
  const shared = { file, onFile: take, onGo };
  return (
    <Frame title={title} introduction={introduction} isSaved={false}>
      {reader && <Account reader={reader} />}
      {reader && <Navigation views={viewsFor(reader.isOwner)} current={view} onGo={onView} />}
      {!reader && <Nobody fault={fault} onAgain={ask} />}
      {isOver && <p class="card drop over">{CONSOLE_TEXTS.dropHere}</p>}
      {fileFault !== '' && (
        <p class="fault" role="alert">
          <EvidenceText text={fileFault} />
        </p>
      )}
      {reader && view !== 'find' && (
        <ConsoleView view={view} parameters={parameters} isOwner={reader.isOwner} kept={kept} onGo={onGo} />
      )}
      {reader && view === 'find' && !place && (
        <FindView {...shared} query={query} search={search} kept={keptSearch} onQuery={change} />
      )}
      {reader && view === 'find' && place && (
        <ConversationView {...shared} place={place} onBack={() => onGo(keptSearch.current?.key.slice(1) ?? '')} />
      )}
    </Frame>
  );
}

render(<ConsolePage />, document.getElementById('page')!);
