import { useState } from 'preact/hooks';
import { parseRichnessAssertions } from '../archivist/compliance/richness-assertion.js';
import { Choice } from './choice.js';
import { type AssetVerdict, inOrder, type Judged, type Policy } from './compliance.js';
import { ComplianceOverTime } from './compliance-over-time.js';
import { ComplianceProgress } from './compliance-progress.js';
import { assertionText, CONSOLE_TEXTS, conditionsText, countText, durationText, RULES } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { EvidenceText } from './evidence-text.js';
import { Moment } from './moment.js';
import { PlaceAnchor, type PlaceLink, QueryAnchor } from './place-link.js';
import { SignIn } from './sign-in-view.js';
import { type ComplianceSoFar, type KeptReading, useCompliance } from './use-compliance.js';

const TEXTS = CONSOLE_TEXTS.compliance;

/** What a policy demands, in a sentence. */
function ruleOf(policy: Policy): string {
  const lists = parseRichnessAssertions(policy.richness_assertions, 'richness_assertions');
  const assertions = conditionsText(lists.map((any) => any.map(assertionText)));
  return RULES[policy.compliance_type]({
    opening: policy.event_display_type,
    closing: policy.closing_event_display_type,
    period: durationText(Number(policy.time_period_seconds)),
    window: durationText(Number(policy.dynamic_window)),
    deviations: policy.dynamic_variability,
    assertions,
  });
}

const failures = (verdicts: readonly AssetVerdict[]) => verdicts.filter(({ compliant }) => !compliant);

interface ComplianceProps extends PlaceLink {
  /** Identity of the one policy that is shown; empty for all. */
  readonly policy: string;
  /** How many assets a step reads. */
  readonly atOnce: number;
  readonly kept: KeptReading;
}

/** Policies, what is outstanding, and since when, as far as the reader wants to look back. */
export function ComplianceView({ policy: wanted, atOnce, kept, onGo }: ComplianceProps) {
  const reading = useCompliance(atOnce, kept);
  const { soFar, fault } = reading;
  if (!soFar && fault) return <SignIn fault={fault} onAgain={reading.more} />;
  if (!soFar) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  return (
    <>
      <ComplianceProgress reading={reading} soFar={soFar} />
      <Policies soFar={soFar} onGo={onGo} />
      {soFar.policies.length > 0 && <Outstanding soFar={soFar} wanted={wanted} onGo={onGo} />}
      {soFar.policies.length > 0 && <p class="part hint">{TEXTS.made}</p>}
    </>
  );
}

/** Names a CSV file by what it covers. */
const fileOf = (table: string, { isWhole, assetCount }: ComplianceSoFar): string =>
  isWhole ? table : `${table}-newest-${assetCount}-assets`;

interface OutstandingProps extends PlaceLink {
  readonly soFar: ComplianceSoFar;
  readonly wanted: string;
}

function Outstanding({ soFar, wanted, onGo }: OutstandingProps) {
  const shown = soFar.judged.filter(({ policy }) => wanted === '' || policy.identity === wanted);
  const toAll = wanted !== '' && (
    <p>
      <QueryAnchor query="view=compliance" onGo={onGo}>
        {TEXTS.all}
      </QueryAnchor>
    </p>
  );
  if (shown.length === 0)
    return (
      <section class="part">
        <h2>{TEXTS.noPolicy}</h2>
        {toAll}
      </section>
    );
  return (
    <>
      <section class="part">
        <h2>{shown.length === 1 ? <EvidenceText text={shown[0]!.policy.display_name} /> : TEXTS.all}</h2>
        {toAll}
        <Verdicts judged={shown} soFar={soFar} onGo={onGo} />
      </section>
      <ComplianceOverTime
        assets={soFar.assets}
        policies={shown.map(({ policy }) => policy)}
        nowMs={soFar.nowMs}
        file={fileOf('compliance-over-time', soFar)}
        key={wanted}
      />
    </>
  );
}

function Policies({ soFar, onGo }: PlaceLink & { readonly soFar: ComplianceSoFar }) {
  const failing = ({ verdicts }: Judged) => failures(verdicts);
  const oldest = (row: Judged) => failing(row)[0]?.sinceMs;
  const columns: Column<Judged>[] = [
    {
      title: TEXTS.policy,
      text: ({ policy }) => policy.display_name,
      view: ({ policy }) => (
        <QueryAnchor
          query={String(
            new URLSearchParams([
              ['view', 'compliance'],
              ['policy', policy.identity],
            ]),
          )}
          onGo={onGo}
        >
          <EvidenceText text={policy.display_name} />
        </QueryAnchor>
      ),
    },
    { title: TEXTS.rule, text: ({ policy }) => ruleOf(policy) },
    {
      title: TEXTS.assets,
      text: ({ verdicts }) => String(verdicts.length),
      view: ({ verdicts }) => countText(verdicts.length),
      isNumber: true,
    },
    {
      title: TEXTS.outstanding,
      text: (row) => String(failing(row).length),
      view: (row) => <strong class={failing(row).length > 0 ? 'bad' : 'good'}>{countText(failing(row).length)}</strong>,
      isNumber: true,
    },
    {
      title: TEXTS.oldest,
      text: (row) => timeText(oldest(row), failing(row).length === 0),
      view: (row) => <Since sinceMs={oldest(row)} compliant={failing(row).length === 0} />,
    },
  ];
  return (
    <section class="part">
      <h2>{TEXTS.policies}</h2>
      <DataTable
        caption={TEXTS.policies}
        columns={columns}
        rows={soFar.judged}
        keyOf={({ policy }) => policy.identity}
        file={fileOf('compliance-policies', soFar)}
        empty={TEXTS.noPolicies}
      />
    </section>
  );
}

function timeText(sinceMs: number | undefined, compliant: boolean): string {
  if (sinceMs !== undefined) return new Date(sinceMs).toISOString();
  return compliant ? TEXTS.notSince : TEXTS.sinceUnknown;
}

function Since({ sinceMs, compliant }: { readonly sinceMs: number | undefined; readonly compliant: boolean }) {
  return <Moment time={timeText(sinceMs, compliant)} />;
}

interface VerdictsProps extends PlaceLink {
  readonly judged: readonly Judged[];
  readonly soFar: ComplianceSoFar;
}

function Verdicts({ judged, soFar, onGo }: VerdictsProps) {
  const [isAll, setAll] = useState(false);
  const all = inOrder(judged.flatMap(({ verdicts }) => verdicts));
  const rows = isAll ? all : failures(all);
  const columns: Column<AssetVerdict>[] = [
    {
      title: TEXTS.asset,
      text: ({ asset }) => asset.name,
      view: ({ asset }) => (
        <PlaceAnchor place={{ kind: 'asset', id: asset.id }} onGo={onGo}>
          <EvidenceText text={asset.name} />
        </PlaceAnchor>
      ),
    },
    ...(judged.length > 1 ? [{ title: TEXTS.policy, text: ({ policy }: AssetVerdict) => policy.display_name }] : []),
    {
      title: TEXTS.since,
      text: ({ sinceMs, compliant }) => timeText(sinceMs, compliant),
      view: ({ sinceMs, compliant }) => <Since sinceMs={sinceMs} compliant={compliant} />,
    },
    {
      title: TEXTS.verdict,
      text: ({ compliant }) => (compliant ? TEXTS.yes : TEXTS.no),
      view: ({ compliant }) => <strong class={compliant ? 'good' : 'bad'}>{compliant ? TEXTS.yes : TEXTS.no}</strong>,
    },
    { title: TEXTS.reason, text: ({ reason }) => reason },
  ];
  return (
    <>
      <Choice
        label={TEXTS.show}
        value={isAll ? 'all' : 'open'}
        options={[
          ['open', TEXTS.onlyOutstanding],
          ['all', TEXTS.everything],
        ]}
        isInline
        onChoose={(chosen) => setAll(chosen === 'all')}
      />
      <DataTable
        caption={isAll ? TEXTS.everything : TEXTS.onlyOutstanding}
        columns={columns}
        rows={rows}
        keyOf={({ policy, asset }) => `${policy.identity} ${asset.id}`}
        file={fileOf('compliance', soFar)}
        empty={all.length === 0 ? TEXTS.noAssets(soFar.isWhole) : TEXTS.nothing(soFar.isWhole)}
      />
    </>
  );
}
