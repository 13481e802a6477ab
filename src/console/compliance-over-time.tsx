import { useMemo, useState } from 'preact/hooks';
import { Choice } from './choice.js';
import { type CheckedAsset, outstandingAt, type Policy } from './compliance.js';
import { CONSOLE_TEXTS, countText } from './console-texts.js';
import { type Column, DataTable } from './data-table.js';

const TEXTS = CONSOLE_TEXTS.compliance;
type Step = keyof typeof TEXTS.steps;

/** The end of each step in the reader's zone, the youngest first; the first one is now. */
function endsOf(step: Step, nowMs: number): number[] {
  const now = new Date(nowMs);
  const at = (back: number) => {
    if (step === 'month') return new Date(now.getFullYear(), now.getMonth() - back + 1, 1);
    const days = step === 'week' ? back * 7 : back;
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days + 1);
  };
  const count = step === 'day' ? 14 : 12;
  return Array.from({ length: count }, (_, back) => (back === 0 ? nowMs : at(back).getTime() - 1));
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

interface OverTimeProps {
  /** Others are added at the end. */
  readonly assets: readonly CheckedAsset[];
  readonly policies: readonly Policy[];
  readonly nowMs: number;
  /** Of the CSV file. */
  readonly file: string;
}

/** What was counted so far, so that a step of reading is not paid for again. */
interface Counted {
  readonly assets: number;
  readonly failing: readonly number[];
}

function countAlso(
  before: Counted | undefined,
  { assets, policies }: Pick<OverTimeProps, 'assets' | 'policies'>,
  ends: readonly number[],
): Counted {
  const added = outstandingAt(policies, assets.slice(before?.assets ?? 0), ends);
  const failing = added.map((count, at) => count + (before?.failing[at] ?? 0));
  return { assets: assets.length, failing };
}

/** The end of a step, and how many assets were outstanding then. */
interface Outstanding {
  readonly endMs: number;
  readonly count: number;
}

/** Counts for each step only the assets that were added since. */
function useOutstanding({ assets, policies, nowMs }: Omit<OverTimeProps, 'file'>, step: Step): readonly Outstanding[] {
  const counted = useMemo(() => new Map<Step, Counted>(), []);
  return useMemo(() => {
    const ends = endsOf(step, nowMs);
    const all = countAlso(counted.get(step), { assets, policies }, ends);
    counted.set(step, all);
    return ends.map((endMs, at) => ({ endMs, count: all.failing[at]! }));
  }, [assets, step]);
}

function columnsFor(rows: readonly Outstanding[]): Column<Outstanding>[] {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return [
    {
      title: TEXTS.until,
      text: ({ endMs }) => new Date(endMs).toISOString(),
      view: ({ endMs }) => <time dateTime={new Date(endMs).toISOString()}>{day.format(endMs)}</time>,
    },
    {
      title: TEXTS.count,
      text: ({ count }) => String(count),
      view: ({ count }) => (
        <span class="bar">
          <span>{countText(count)}</span>
          <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect width={(count / most) * 100} height="1" />
          </svg>
        </span>
      ),
    },
  ];
}

/** How many assets were outstanding at the end of each step, as a table with bars. */
export function ComplianceOverTime({ assets, policies, nowMs, file }: OverTimeProps) {
  const [step, setStep] = useState<Step>('day');
  // The attributes of an asset are known as they are now, so that policies about them have no past here.
  const followed = policies.filter(({ compliance_type: type }) => type !== 'COMPLIANCE_RICHNESS');
  const rows = useOutstanding({ assets, policies: followed, nowMs }, step);
  return (
    <section class="part">
      <h2>{TEXTS.overTime}</h2>
      {followed.length === 0 ? (
        <p class="hint">{TEXTS.noHistory}</p>
      ) : (
        <>
          <p class="hint">{TEXTS.overTimeHelp}</p>
          {followed.length < policies.length && <p class="hint">{TEXTS.leftOut}</p>}
          <Choice
            label={TEXTS.step}
            value={step}
            options={Object.entries(TEXTS.steps) as [Step, string][]}
            isInline
            onChoose={(chosen) => setStep(chosen)}
          />
          <DataTable
            caption={TEXTS.overTime}
            columns={columnsFor(rows)}
            rows={rows}
            keyOf={({ endMs }) => String(endMs)}
            file={file}
            empty=""
          />
        </>
      )}
    </section>
  );
}
