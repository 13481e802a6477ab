import { useId, useMemo, useState } from 'preact/hooks';
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

/** How many assets were outstanding at the end of each step, as a table with bars. */
export function ComplianceOverTime({ assets, policies, nowMs, file }: OverTimeProps) {
  const id = useId();
  const [step, setStep] = useState<Step>('day');
  // The attributes of an asset are known as they are now, so that policies about them have no past here.
  const followed = policies.filter(({ compliance_type: type }) => type !== 'COMPLIANCE_RICHNESS');
  const counted = useMemo(() => new Map<Step, Counted>(), []);
  const rows = useMemo(() => {
    const ends = endsOf(step, nowMs);
    const all = countAlso(counted.get(step), { assets, policies: followed }, ends);
    counted.set(step, all);
    return ends.map((endMs, at) => ({ endMs, count: all.failing[at]! }));
  }, [assets, step]);
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const columns: Column<(typeof rows)[number]>[] = [
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
  return (
    <section class="part">
      <h2>{TEXTS.overTime}</h2>
      {followed.length === 0 ? (
        <p class="hint">{TEXTS.noHistory}</p>
      ) : (
        <>
          <p class="hint">{TEXTS.overTimeHelp}</p>
          {followed.length < policies.length && <p class="hint">{TEXTS.leftOut}</p>}
          <div class="field inline">
            <label for={id}>{TEXTS.step}</label>
            <select id={id} value={step} onChange={(event) => setStep(event.currentTarget.value as Step)}>
              {Object.entries(TEXTS.steps).map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          </div>
          <DataTable
            caption={TEXTS.overTime}
            columns={columns}
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
