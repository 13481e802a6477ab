import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { watchSecretExpiry } from '../../plugins/archivist-client/secret-expiry.js';
import { createOperationMetrics } from '../../plugins/capture/capture-metrics.js';
import { registerRoomMetrics } from '../../plugins/capture/capture-room.js';
import { registerSpoolMetrics } from '../../plugins/capture/spool-metrics.js';
import { registerDeliveryMetrics } from '../../plugins/delivery/delivery-metrics.js';
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

function registered(): Set<string> {
  const plugin = new Registry();
  const never = () => Promise.reject(new Error('not asked'));
  createOperationMetrics(plugin);
  registerSpoolMetrics(plugin, never);
  registerRoomMetrics(plugin, { full: () => [] });
  registerDeliveryMetrics(plugin, never);
  watchSecretExpiry({ registry: plugin, clock: { now: () => 0 }, logger: pino({ level: 'silent' }) });
  const names = new Set<string>();
  for (const { name, type } of [createMetrics().registry, plugin].flatMap((each) => each.getMetricsAsArray())) {
    names.add(name);
    if (String(type) === 'histogram') for (const end of ['_bucket', '_sum', '_count']) names.add(`${name}${end}`);
  }
  for (const { record } of rules) if (record) names.add(record);
  return names;
}

/** Names in an expression that look like metrics; what is in quotes or braces, and functions, are not. */
function metricsIn(expression: string): string[] {
  const bare = expression.replace(/\{[^}]*\}|"[^"]*"|\[[^\]]*\]|\b(by|without) \([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-z_][a-z0-9_:]*(?!\s*\()/gi)]
    .map(([name]) => name)
    .filter((name) => name.includes('_') && !new RegExp(`${name}[a-z0-9_:]*\\s*\\(`).test(bare));
}

describe('the alert rules and the dashboard', () => {
  const known = registered();
  const expressions = [
    ...rules.map((rule) => [rule.alert ?? rule.record!, rule.expr] as const),
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ];

  it.each(expressions)('use only metrics that the programs report: %s', (_, expression) => {
    const used = metricsIn(expression);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
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
