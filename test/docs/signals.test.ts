import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
// The grammar of Prometheus's own query editor: promtool is rarely installed where tests run.
import { parser } from '@prometheus-io/lezer-promql';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { watchSecretExpiry } from '../../plugins/archivist-client/secret-expiry.js';
import { createOperationMetrics } from '../../plugins/capture/capture-metrics.js';
import { registerRoomMetrics } from '../../plugins/capture/capture-room.js';
import { registerSpoolMetrics } from '../../plugins/capture/spool-metrics.js';
import { registerDeliveryMetrics } from '../../plugins/delivery/delivery-metrics.js';
import { clockMetrics } from '../../plugins/start/watch-service-clock.js';
import { createMetrics } from '../../src/service/metrics.js';
import { hasPromtool } from '../support/prerequisites.js';
import { anchors, ROOT } from './pages.js';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: { readonly runbook: string };
}

const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const groups = (parse(text('deploy/prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }).groups;
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(text('deploy/grafana-dashboard.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/** Labels that Prometheus adds to what it scrapes. */
const SCRAPED = ['instance', 'job'];

/** The metrics that the programs report and the rules record, with the labels that they can have. */
function registered(): Map<string, ReadonlySet<string>> {
  const plugin = new Registry();
  const never = () => Promise.reject(new Error('not asked'));
  createOperationMetrics(plugin);
  clockMetrics(plugin);
  registerSpoolMetrics(plugin, never);
  registerRoomMetrics(plugin, { full: () => [] });
  registerDeliveryMetrics(plugin, never);
  watchSecretExpiry({ registry: plugin, clock: { now: () => 0 }, logger: pino({ level: 'silent' }) });
  const metrics = new Map<string, ReadonlySet<string>>();
  for (const metric of [createMetrics().registry, plugin].flatMap((each) => each.getMetricsAsArray())) {
    const { name, type, labelNames = [] } = metric as typeof metric & { readonly labelNames?: readonly string[] };
    metrics.set(name, new Set([...SCRAPED, ...labelNames]));
    if (String(type) !== 'histogram') continue;
    for (const end of ['_sum', '_count']) metrics.set(`${name}${end}`, metrics.get(name)!);
    metrics.set(`${name}_bucket`, new Set([...metrics.get(name)!, 'le']));
  }
  for (const { record, expr } of rules)
    if (record) metrics.set(record, new Set(readPromql(expr).selectors.flatMap(({ name }) => [...metrics.get(name)!])));
  return metrics;
}

/** What an expression selects: each metric with the labels that its matchers name. */
interface Promql {
  readonly faults: readonly string[];
  readonly selectors: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels by which results are grouped or joined. */
  readonly grouping: readonly string[];
}

/** Reads an expression by Prometheus's own grammar; what does not belong to it is a fault. */
function readPromql(expression: string): Promql {
  const faults: string[] = [];
  const selectors: { name: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  // The dashboard's variables stand for durations.
  const source = expression.replaceAll('$__rate_interval', '5m').replaceAll('$__interval', '1m');
  parser.parse(source).iterate({
    enter({ type, name, from, to, node }) {
      const written = source.slice(from, to);
      if (type.isError) faults.push(`at ${from}: ${source.slice(from, from + 20)}`);
      if (name === 'VectorSelector') selectors.push({ name: '', labels: [] });
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') selectors.at(-1)!.name = written;
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') grouping.push(written);
      else selectors.at(-1)!.labels.push(written);
    },
  });
  return { faults, selectors, grouping };
}

describe('the alert rules and the dashboard', () => {
  const known = registered();
  const expressions = [
    ...rules.map((rule) => [rule.alert ?? rule.record!, rule.expr] as const),
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ];

  it.each(expressions)('are PromQL, with metrics and labels that the programs report: %s', (_, expression) => {
    const { faults, selectors, grouping } = readPromql(expression);
    expect(faults).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    expect(selectors.filter(({ name }) => !known.has(name))).toEqual([]);
    for (const { name, labels } of selectors)
      expect([name, labels.filter((label) => !known.get(name)!.has(label))]).toEqual([name, []]);
    const labels = new Set(selectors.flatMap(({ name }) => [...known.get(name)!]));
    expect(grouping.filter((label) => !labels.has(label))).toEqual([]);
  });

  it.each([
    ['sum(rate(archivist_x[5m])', 1],
    ['archivist_x{a="b"} >', 1],
    ['sum by (a) (archivist_x{a="b"})', 0],
  ])('would fail if they were not PromQL: %s', (expression, faults) => {
    expect(Math.min(1, readPromql(expression).faults.length)).toBe(faults);
  });

  it('have an alert or a panel for every metric of the service', () => {
    const own = createMetrics()
      .registry.getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('archivist_'));
    const all = expressions.map(([, expression]) => expression).join(' ');
    expect(own.filter((name) => !all.includes(name))).toEqual([]);
  });

  it.skipIf(!hasPromtool)('are rules to Prometheus itself', () => {
    const checked = spawnSync('promtool', ['check', 'rules', join(ROOT, 'deploy/prometheus-rules.yml')]);
    expect([checked.status, String(checked.stderr)]).toEqual([0, '']);
  });

  it.each(rules.flatMap(({ alert, annotations }) => (alert ? [[alert, annotations!.runbook]] : [])))(
    'name a runbook that exists: %s',
    (_, runbook) => {
      const [page, anchor] = runbook!.split('#');
      expect(existsSync(join(ROOT, page!))).toBe(true);
      if (anchor) expect(anchors(text(page!))).toContain(anchor);
    },
  );
});
