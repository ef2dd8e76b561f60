import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { behaviours } from '../../../scripts/fleet/behaviour.ts';
import { LightRouter } from '../../../scripts/fleet/light-router.ts';
import { runScript } from '../../../scripts/fleet/light-script.ts';
import { MODELS } from '../../../scripts/fleet/models.ts';
import { PLACES } from '../../../scripts/fleet/places.ts';
import { planFleet } from '../../../scripts/fleet/plan.ts';
import { agentMessages } from '../../../protocol/messages/index.ts';

test('the same fleet for the same seed, and another for another', () => {
  const of = (seed: number): string => JSON.stringify(planFleet({ agents: 5, routers: 40, seed }));
  expect(of(1)).toBe(of(1));
  expect(of(1)).not.toBe(of(2));
});

test('10,000 agents have names, routers and hardware ids that are their own', () => {
  const agents = planFleet({ agents: 10_000, routers: 20_000 });
  const routers = agents.flatMap((agent) => agent.routers);
  expect(routers).toHaveLength(20_000);
  for (const values of [agents.map(({ name }) => name), routers.map(({ name }) => name), routers.map(({ serial }) => serial)])
    expect(new Set(values).size).toBe(values.length);
  expect(new Set(agents.map(({ site }) => site.name)).size).toBe(10_000);
});

test('routers that do not divide evenly go to the first agents', () => {
  expect(planFleet({ agents: 3, routers: 10 }).map((agent) => agent.routers.length)).toEqual([4, 3, 3]);
});

test('every model is in the product catalogue', () => {
  const catalogue = readFileSync(new URL('../../../server/fleet/catalog/mikrotik-products.csv', import.meta.url), 'utf8');
  for (const { model } of MODELS) expect(catalogue).toContain(`,${model},`);
  expect(new Set(PLACES.map(({ code }) => code)).size).toBe(PLACES.length);
});

test('shares of behaviours are of different agents', () => {
  const made = behaviours(10, { flapping: 0.2, silent: 0.1, slow: 0.3 });
  const count = (name: 'flapping' | 'silent' | 'slow'): number => made.filter((one) => one[name]).length;
  expect([count('flapping'), count('silent'), count('slow')]).toEqual([2, 1, 3]);
  for (const { flapping, silent, slow } of made) expect([flapping, silent, slow].filter(Boolean).length).toBeLessThanOrEqual(1);
});

const [planned] = planFleet({ agents: 1, routers: 1 })[0]!.routers;
const routerOf = (version: string): LightRouter => new LightRouter({ ...planned!, version }, () => 1_700_000_000_000);

test('what a router says of itself is valid in the protocol', () => {
  for (const { model, version } of planFleet({ agents: 1, routers: 100 })[0]!.routers) {
    const router = new LightRouter({ ...planned!, model, version }, () => 1_700_000_000_000);
    expect(agentMessages.inventory.safeParse(router.inventory()).success).toBe(true);
    expect(agentMessages.health.safeParse({ type: 'health', router: router.name, readings: router.readings() }).success).toBe(true);
    const devices = router.devices();
    const message = { type: 'devices', router: router.name, kind: 'full', first: true, last: true, devices, gone: [] };
    expect(agentMessages.devices.parse(message).devices).toHaveLength(devices.length);
  }
});

test.each([
  ['7.20.4 (stable)', '/ip dns adlist add url=https://example.net/list', 'completed', null],
  ['6.49.18 (long-term)', '/ip dns adlist add url=https://example.net/list', 'failed', 'script_error'],
  ['7.20.4 (stable)', ':error "no"', 'failed', 'script_error'],
  ['7.20.4 (stable)', '/system reboot', 'unknown', 'router_rebooted'],
  ['7.20.4 (stable)', ':delay 20s', 'unknown', 'timed_out'],
])('on %s, %s ends as %s', (version, script, outcome, reason) => {
  expect(runScript(routerOf(version), script, 10_000).result).toMatchObject({ outcome, reason });
});

test('an export answers as the control plane reads it for a backup', () => {
  const router = routerOf('7.20.4 (stable)');
  const { rows } = router.command('/export', []) as { rows: { line: string }[] };
  expect(rows.map(({ line }) => line).join('\n')).toBe(router.export());
});

test('a script that would cut the agent off is seen as such', () => {
  const cuts = (script: string): boolean => runScript(routerOf('7.20.4'), script, 60_000).cutsOff;
  expect(cuts('/interface ethernet disable ether1')).toBe(true);
  expect(cuts('/ip firewall filter add chain=input action=drop')).toBe(true);
  expect(cuts('/ip firewall filter add chain=input action=drop in-interface=ether5')).toBe(false);
});
