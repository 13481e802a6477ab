import type { ComponentChildren } from 'preact';
import { EvidenceText } from './evidence-text.js';
import { Preformatted } from './preformatted.js';
import { TEXTS } from './texts.js';
import { useKeptFocus } from './use-kept-focus.js';

/** Set by the build: the program's version, and the licences of what is bundled. */
declare const VERSION: string;
declare const LICENCES: string;

interface FrameProps {
  readonly title: string;
  readonly introduction: string;
  /** Whether the page works from a disk, so that it is worth saving. */
  readonly isSaved: boolean;
  readonly children: ComponentChildren;
}

/** What stands around every page: its name, and what it is made of. */
export function Frame({ title, introduction, isSaved, children }: FrameProps) {
  useKeptFocus();
  return (
    <>
      <header>
        <p class="brand">
          vcon-archivist <span>{VERSION}</span>
        </p>
        <h1>
          <EvidenceText text={title} />
        </h1>
        <p>{introduction}</p>
      </header>
      <main>{children}</main>
      <footer>
        {/* A page on a disk is saved already. */}
        {isSaved && location.protocol !== 'file:' && (
          <p>
            <a href={location.pathname} download={`vcon-archivist-verifier-${VERSION}.html`}>
              {TEXTS.download}
            </a>
            . {TEXTS.downloadHelp}
          </p>
        )}
        <details>
          <summary>{TEXTS.licences}</summary>
          <Preformatted>{LICENCES}</Preformatted>
        </details>
      </footer>
    </>
  );
}
