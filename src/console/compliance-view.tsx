import { useId, useMemo, useState } from 'preact/hooks';
import { type AssetVerdict, assetsOf, type ComplianceData, judge, type Policy, readCompliance } from './compliance.js';
import { ComplianceOverTime } from './compliance-over-time.js';
import { CONSOLE_TEXTS, durationText, FILTER_WORDS, RULES } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';
import { EvidenceText } from './evidence-text.js';
import { Moment } from './moment.js';
import { PlaceAnchor, type PlaceLink, QueryAnchor } from './place-link.js';
import { readJson } from './session-reader.js';
import { SignIn } from './sign-in-view.js';
import { useLoaded } from './use-loaded.js';

const TEXTS = CONSOLE_TEXTS.compliance;

/** What a policy demands, in a sentence. */
function ruleOf(policy: Policy): string {
  const assertions = policy.richness_assertions.map(({ or }) => or.join(FILTER_WORDS.or)).join(FILTER_WORDS.and);
  return RULES[policy.compliance_type]({
    opening: policy.event_display_type,
    closing: policy.closing_event_display_type,
    period: durationText(Number(policy.time_period_seconds)),
    window: durationText(Number(policy.dynamic_window)),
    deviations: policy.dynamic_variability,
    assertions,
  });
}

interface Judged {
  readonly policy: Policy;
  /** Oldest failure first, then what is compliant. */
  readonly verdicts: readonly AssetVerdict[];
}

function judgeAll(data: ComplianceData, nowMs: number): Judged[] {
  return data.policies.map((policy) => ({
    policy,
    verdicts: assetsOf(policy, data)
      .map((asset) => judge(policy, asset, nowMs))
      .sort((left, right) => orderOf(left) - orderOf(right)),
  }));
}

const orderOf = ({ compliant, sinceMs, asset }: AssetVerdict): number =>
  compliant ? Number.MAX_SAFE_INTEGER : (sinceMs ?? asset.createdMs);

const failures = (verdicts: readonly AssetVerdict[]) => verdicts.filter(({ compliant }) => !compliant);

interface ComplianceProps extends PlaceLink {
  /** Identity of the one policy that is shown; empty for all. */
  readonly policy: string;
}

/** Policies, what is outstanding, and since when. */
export function ComplianceView({ policy: wanted, onGo }: ComplianceProps) {
  const { value: data, fault } = useLoaded(() => readCompliance(readJson), []);
  const nowMs = useMemo(() => Date.now(), [data]);
  const judged = useMemo(() => (data ? judgeAll(data, nowMs) : []), [data]);
  if (fault) return <SignIn fault={fault} isFirst={fault.reason !== 'signed_out'} />;
  if (!data) return <p role="status">{CONSOLE_TEXTS.loading}</p>;
  const shown = judged.filter(({ policy }) => wanted === '' || policy.identity === wanted);
  return (
    <>
      {!data.isWhole && <p class="banner unreadable">{TEXTS.tooMuch}</p>}
      <Policies judged={judged} onGo={onGo} />
      {data.policies.length > 0 && (
        <>
          <section class="part">
            <h2>{shown.length === 1 ? <EvidenceText text={shown[0]!.policy.display_name} /> : TEXTS.all}</h2>
            {wanted !== '' && (
              <p>
                <QueryAnchor query="view=compliance" onGo={onGo}>
                  {TEXTS.all}
                </QueryAnchor>
              </p>
            )}
            <Verdicts judged={shown} onGo={onGo} />
          </section>
          <ComplianceOverTime data={data} policies={shown.map(({ policy }) => policy)} nowMs={nowMs} key={wanted} />
        </>
      )}
      <p class="part hint">{TEXTS.made}</p>
    </>
  );
}

function Policies({ judged, onGo }: PlaceLink & { readonly judged: readonly Judged[] }) {
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
    { title: TEXTS.assets, text: ({ verdicts }) => String(verdicts.length), isNumber: true },
    {
      title: TEXTS.outstanding,
      text: (row) => String(failing(row).length),
      view: (row) => <strong class={failing(row).length > 0 ? 'bad' : 'good'}>{failing(row).length}</strong>,
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
        rows={judged}
        keyOf={({ policy }) => policy.identity}
        file="compliance-policies"
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

function Verdicts({ judged, onGo }: PlaceLink & { readonly judged: readonly Judged[] }) {
  const id = useId();
  const [isAll, setAll] = useState(false);
  const all = judged.flatMap(({ verdicts }) => verdicts).sort((left, right) => orderOf(left) - orderOf(right));
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
      <div class="field inline">
        <label for={id}>{TEXTS.show}</label>
        <select
          id={id}
          value={isAll ? 'all' : 'open'}
          onChange={(event) => setAll(event.currentTarget.value === 'all')}
        >
          <option value="open">{TEXTS.onlyOutstanding}</option>
          <option value="all">{TEXTS.everything}</option>
        </select>
      </div>
      <DataTable
        caption={isAll ? TEXTS.everything : TEXTS.onlyOutstanding}
        columns={columns}
        rows={rows}
        keyOf={({ policy, asset }) => `${policy.identity} ${asset.id}`}
        file="compliance"
        empty={all.length === 0 ? TEXTS.noAssets : TEXTS.nothing}
      />
    </>
  );
}
