import { render } from 'preact';
import { type BundleFiles, INDEX_PATH, readBundleIndex } from '../core/bundle/bundle-index.js';
import { PAGE_PATH } from '../core/bundle/bundle-layout.js';
import { utf8 } from '../core/bytes.js';
import { VerificationError } from '../core/errors.js';
import { type EvidenceFile, evidenceInPage } from '../core/evidence/evidence-file.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { BUNDLE_TEXTS } from './bundle-texts.js';
import { EvidenceText } from './evidence-text.js';
import { Frame } from './frame.js';
import { Verifier } from './verifier.js';

/** Set by the build. */
declare const VERSION: string;

/** Somebody who forges evidence can forge a page: this is the first thing that it says. */
function Warning() {
  return (
    <section class="card warning" aria-labelledby="came-with">
      <h2 id="came-with">{BUNDLE_TEXTS.cameWith}</h2>
      <p>{BUNDLE_TEXTS.forged}</p>
      <ul class="plain">
        {BUNDLE_TEXTS.elsewhere(VERSION).map((where) => (
          <li key={where}>{where}</li>
        ))}
      </ul>
    </section>
  );
}

function Contents({ files }: { readonly files: BundleFiles }) {
  const paths = Object.keys(files).sort();
  return (
    <details class="part contents">
      <summary>{BUNDLE_TEXTS.contents(paths.length)}</summary>
      <ul class="plain">
        {paths.map((path) => (
          <li key={path}>
            <EvidenceText text={path} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function titleOf(files: BundleFiles): string {
  try {
    return BUNDLE_TEXTS.title(readBundleIndex(files[INDEX_PATH] ?? new Uint8Array()).operations.length);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return BUNDLE_TEXTS.untitled;
  }
}

function BundlePage({ files, evidence }: { readonly files: BundleFiles; readonly evidence: EvidenceFile }) {
  return (
    <Frame title={titleOf(files)} introduction={BUNDLE_TEXTS.introduction} isSaved={false}>
      <Warning />
      <Contents files={files} />
      <Verifier brought={evidence} />
    </Frame>
  );
}

/** The name under which the reader has this page, for the command that repeats the check. */
function ownName(): string {
  const name = location.pathname.replace(/^.*\//, '');
  try {
    return decodeURIComponent(name) || PAGE_PATH;
  } catch {
    // A disk may have names that are not UTF-8.
    return name;
  }
}

async function start(root: HTMLElement): Promise<void> {
  const text = document.getElementById('evidence')?.textContent ?? '';
  const evidence = evidenceInPage(ownName(), { evidence: utf8(text) });
  try {
    render(<BundlePage files={await evidence.folder!.files()} evidence={evidence} />, root);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    render(
      <Frame title={BUNDLE_TEXTS.untitled} introduction={BUNDLE_TEXTS.introduction} isSaved={false}>
        <p class="banner refused">{BUNDLE_TEXTS.unreadable(error.message)}</p>
      </Frame>,
      root,
    );
  }
}

// The evidence stands behind the script, so that all before it is compressed once for all bundles.
document.addEventListener('DOMContentLoaded', () => void start(document.getElementById('page')!));
