import { CONSOLE_TEXTS } from './console-texts.js';
import { EvidenceText } from './evidence-text.js';
import { type Json, memberOf, textOf } from './json-members.js';
import { type PlaceLink, QueryAnchor } from './place-link.js';
import { readList } from './read-list.js';
import { readJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = CONSOLE_TEXTS.compliance;
/** The interface checks an asset against this many policies at most on one page. */
const PAGE = 500;

interface ComplianceProps extends PlaceLink {
  readonly asset: string;
  /** The past time that is asked for; now if undefined. */
  readonly at: string | undefined;
}

/** The verdict of the service over an asset: each policy that applies, with its reason. */
export function AssetCompliance({ asset, at, onGo }: ComplianceProps) {
  const query = new URLSearchParams({ page_size: String(PAGE), ...(at !== undefined && { compliant_at: at }) });
  const { value, fault, reload } = useLoaded(
    () => readJson(`/archivist/v1/compliance/assets/${asset}?${query}`),
    [asset, at],
  );
  const { value: policies } = useLoaded(
    () => readList(readJson, '/archivist/v1/compliance_policies', 'compliance_policies'),
    [],
  );
  const nameOf = (identity: string) =>
    textOf(policies?.items.find((policy) => policy['identity'] === identity)?.['display_name'] ?? TEXTS.policy);
  const title = at === undefined ? TEXTS.ofAsset : TEXTS.ofAssetThen;
  // Who sees an event may see nothing of its asset, which is no fault.
  if (fault && fault.reason !== 'absent')
    return (
      <section class="part">
        <h2>{title}</h2>
        <SignIn fault={fault} onAgain={reload} />
      </section>
    );
  const statements = (memberOf(value, 'compliance') ?? []) as readonly Json[];
  if (value === undefined || statements.length === 0) return null;
  const isCompliant = memberOf(value, 'compliant') === true;
  return (
    <section class="part">
      <h2>{title}</h2>
      <p>
        <strong class={isCompliant ? 'good' : 'bad'}>{isCompliant ? TEXTS.isCompliant : TEXTS.isOutstanding}</strong>
      </p>
      <p class="hint">{TEXTS.ofService}</p>
      <ul class="plain">
        {statements.map((statement) => {
          const policy = textOf(statement['compliance_policy_identity']);
          const query = String(
            new URLSearchParams([
              ['view', 'compliance'],
              ['policy', policy],
            ]),
          );
          return (
            <li key={policy}>
              <QueryAnchor query={query} onGo={onGo}>
                <EvidenceText text={nameOf(policy)} />
              </QueryAnchor>
              : {statement['compliant'] === true ? TEXTS.yes : TEXTS.no}.{' '}
              <EvidenceText text={textOf(statement['reason'])} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
