import { CONSOLE_TEXTS } from './console-texts.js';
import { CopyButton } from './copy-button.js';
import { Code, EvidenceText } from './evidence-text.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { rowNames } from './row-names.js';
import { onService } from './service-path.js';
import { readJson, Unanswered } from './session-reader.js';
import { useLoaded } from './use-loaded.js';

/** Of a conversation with more assets than this, each asset's own page says whether it is public. */
const MOST_ASSETS = 20;

/** Where everybody reads a public asset: its identity, and the name it was given. */
interface PublicAsset {
  readonly id: string;
  readonly name: string;
}

/**
 * The address of a public asset, for people without an account.
 * @param called what tells it from other public assets on the page
 */
export function PublicPage({ id, name, called = name }: PublicAsset & { readonly called?: string | undefined }) {
  const path = onService(`/archivist/v2/publicassets/${id}`);
  const address = new URL(path, location.href).href;
  return (
    <section class="part card">
      <h2>{CONSOLE_TEXTS.publicPage}</h2>
      <p>{CONSOLE_TEXTS.publicPageHelp}</p>
      <p>
        <a href={path} aria-label={CONSOLE_TEXTS.openPublicPage(called)}>
          <EvidenceText text={CONSOLE_TEXTS.openPublicPage(name)} />
        </a>
      </p>
      <p class="choose">
        <Code text={address} />
        <CopyButton text={address} label={CONSOLE_TEXTS.copyAddress} of={called} />
      </p>
    </section>
  );
}

/** The public pages of those of these assets that have one. */
export function PublicPages({ assets }: { readonly assets: readonly string[] }) {
  const asked = assets.length > MOST_ASSETS ? [] : assets;
  const { value } = useLoaded(() => Promise.all(asked.map(readPublic)), [asked.join()]);
  const found = (value ?? []).filter((asset) => asset !== undefined);
  const names = rowNames(found, ({ id, name }) => name || id);
  return found.map((asset) => <PublicPage key={asset.id} called={names.get(asset)} {...asset} />);
}

async function readPublic(id: string): Promise<PublicAsset | undefined> {
  try {
    return publicAsset(id, (await readJson(`/archivist/v2/assets/${id}`)) as Json);
  } catch (error) {
    // Who sees an event may see nothing of its asset.
    if (error instanceof Unanswered) return undefined;
    throw error;
  }
}

/** Undefined for an asset that is not public. */
export function publicAsset(id: string, asset: Json): PublicAsset | undefined {
  if (asset['public'] !== true) return undefined;
  return { id, name: textOf(memberOf(asset['attributes'], 'arc_display_name') ?? '') };
}
