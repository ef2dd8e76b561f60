import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { scrape } from '../harness/metrics.ts';
import type { Scrape } from '../harness/metrics.ts';
import { World } from '../harness/world.ts';

/** docs/monitoring/: rules and dashboard are read by Prometheus' own tool, and name only what a control plane has. */

const FOLDER = fileURLToPath(new URL('../../docs/monitoring', import.meta.url));
/** Debian's package `prometheus`. CI installs it. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0 || process.env['CI'] !== undefined;
const promtool = (...words: string[]) => promisify(execFile)('promtool', words, { cwd: FOLDER });

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}
interface Panel {
  title: string;
  type: string;
  id: number;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}

const read = (file: string): Promise<string> => readFile(path.join(FOLDER, file), 'utf8');
let rules: Rule[];
let panels: Panel[];
let now: Scrape;
beforeAll(async () => {
  rules = (parse(await read('alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
  ({ panels } = JSON.parse(await read('dashboard.json')) as { panels: Panel[] });
  const world = await World.start();
  await world.routerIds();
  now = await scrape(world);
  // The first scrape is a request, too: its duration is in the second.
  now = await scrape(world);
  await world.close();
});

const queries = (): string[] => [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll(/\$\w+/g, '.*'))),
];

/** Names of metrics in a query, with the labels that it asks for. `up` is Prometheus' own. */
function metricsIn(query: string): { name: string; labels: string[] }[] {
  return [...query.matchAll(/\b((?:signalbox|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, name, inside = '']) => ({
    name: name!,
    labels: [...inside.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label]) => label!),
  }));
}

describe.runIf(hasPromtool)('promtool', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-rules-'));
  });
  afterAll(async () => rm(folder, { recursive: true }));

  test('accepts the alert rules and the example of a configuration', async () => {
    expect((await promtool('check', 'rules', 'alerts.yml')).stdout).toContain(`${rules.length} rules found`);
    await promtool('check', 'config', '--syntax-only', 'prometheus.yml');
  });

  test('runs the unit tests of the rules, and fails them when a rule is changed', async () => {
    expect((await promtool('test', 'rules', 'alerts.test.yml')).stdout).toContain('SUCCESS');
    const changed = (await read('alerts.yml')).replace('> 0.2\n', '> 0.9\n');
    await writeFile(path.join(folder, 'alerts.yml'), changed);
    await writeFile(path.join(folder, 'alerts.test.yml'), await read('alerts.test.yml'));
    await expect(promtool('test', 'rules', path.join(folder, 'alerts.test.yml'))).rejects.toThrow('SignalboxRoutersNotAnswering');
  });

  test('accepts every query of the dashboard', async () => {
    const group = { groups: [{ name: 'dashboard', rules: queries().map((expr, index) => ({ record: `query_${index}`, expr })) }] };
    const file = path.join(folder, 'dashboard.yml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify(group));
    expect((await promtool('check', 'rules', file)).stdout).toContain('SUCCESS');
  });

  test('finds nothing to complain about in a live scrape, but for three old names of a library', () => {
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: now.text, encoding: 'utf8' });
    const complaints = (stdout + stderr)
      .split('\n')
      .filter((line) => line !== '' && !/^nodejs_active_(?:handles|requests|resources)_total /.test(line));
    expect(complaints).toEqual([]);
  });
});

test('every alert has a unit test that sees it raised, a severity, a summary and a description', async () => {
  interface Tests {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  }
  const { tests } = parse(await read('alerts.test.yml')) as Tests;
  const raised = new Set(
    tests.flatMap((each) => each.alert_rule_test.filter(({ exp_alerts: alerts }) => alerts.length > 0).map(({ alertname }) => alertname)),
  );
  expect(rules.map(({ alert }) => alert).filter((alert) => !raised.has(alert))).toEqual([]);
  for (const { labels, annotations } of rules) {
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(Object.keys(annotations)).toEqual(['summary', 'description']);
  }
});

test('every metric and label that rules and dashboard name is in a live scrape', () => {
  const used = queries().flatMap(metricsIn);
  expect(used.length).toBeGreaterThan(50);
  const missing = used.filter(({ name, labels }) => {
    const series = now.series.filter((each) => each.name === name);
    // Prometheus adds `instance` and `job` itself.
    return !series.some((each) => labels.every((label) => ['instance', 'job'].includes(label) || label in each.labels));
  });
  expect(missing).toEqual([]);
});

test('every fixed label value that they ask for is one that a control plane has', () => {
  const wrong = queries().flatMap((query) =>
    [...query.matchAll(/\b(signalbox_\w+)\{([^}]*)\}/g)].flatMap(([, name, inside]) =>
      [...inside!.matchAll(/(state|phase|direction|ended_by)=~?"([^"]*)"/g)].flatMap(([, label, text]) =>
        text!.split('|').filter((value) => !now.series.some((each) => each.name === name && each.labels[label!] === value)),
      ),
    ),
  );
  expect(wrong).toEqual([]);
});

test('the dashboard shows every metric of a team, and no panel lies over another', () => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name))));
  const ofTeams = new Set(now.series.filter(({ labels }) => 'team' in labels).map(({ name }) => name));
  expect([...ofTeams].filter((name) => !shown.has(name))).toEqual([]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_none, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
});

test('docs/monitoring.md lists every metric of the control plane, and every alert', async () => {
  const text = await readFile(path.join(FOLDER, '../monitoring.md'), 'utf8');
  const names = new Set([...now.text.matchAll(/^# HELP (signalbox_\w+) /gm)].map(([, name]) => name!));
  expect([...names].filter((name) => !text.includes(`\`${name}`))).toEqual([]);
  expect(rules.map(({ alert }) => alert).filter((alert) => !text.includes(`\`${alert}\``))).toEqual([]);
  const ci = await readFile(path.join(FOLDER, '../../.ci/run'), 'utf8');
  expect(ci).toMatch(/packages=\(.*\bprometheus\b/);
});
