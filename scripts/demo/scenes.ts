import { setTimeout as pause } from 'node:timers/promises';
import type { Administrator } from '../fleet/enrol.ts';

interface ListedRouter {
  id: string;
  identity: string;
  software_version: string;
  state: string;
}

const JOB = { make_backup: false, express_execute: true, needs_acknowledgement: true };
/** Since 7.15. */
const KNOWS_BLOCK_LISTS = /^7[.](?:1[5-9]|2\d)\b/;
/** Routers of both campaigns in a fleet that is large enough. */
const MOST_IN_CAMPAIGNS = 240;
/** Between two visits of a client to an open forward, ms. */
const VISIT_MS = 4000;

/**
 * What people have done with the fleet of the demonstration, through the public interface: jobs with every kind of end, a campaign that its
 * canary stops and one that goes on, backups that differ, open forwards, names of devices, a nightly backup.
 */
export async function playScenes(api: Administrator): Promise<void> {
  const routers = await allRouters(api);
  const answering = routers.filter(({ state }) => state === 'answering');
  const newer = answering.filter((router) => KNOWS_BLOCK_LISTS.test(router.software_version));
  const older = answering.filter((router) => router.software_version.startsWith('6.'));
  const named = (part: string): ListedRouter[] => newer.filter(({ identity }) => identity.includes(part));
  const [gateways, cores, access] = [named('-gw'), named('-core'), named('-ap')];
  await inTurn([
    ...gateways
      .slice(0, 6)
      .map(
        (router) => () =>
          job(api, router, 'Resolver of the new data centre', '/ip dns set servers=10.16.0.53,10.16.1.53', { make_backup: true }),
      ),
    () => job(api, gateways[6], 'Read the uplink', ':put [/system/identity get name]'),
    () => job(api, gateways[7], 'Move the uplink to sfp1', '/interface ethernet disable ether1', { undo_unless_reachable_seconds: 60 }),
    () => job(api, gateways[8], 'Check the tunnel to the core', ':error "no answer from 10.16.0.1"'),
    () => job(api, access[0], 'Restart after the upgrade', '/system reboot'),
    () => job(api, gateways[9], 'Watch the line for ten minutes', ':delay 600s', { timeout_seconds: 900 }),
    () =>
      job(api, cores[0], 'Filter for the new peer', '/routing filter rule add chain=peer-in rule="accept"', {
        make_backup: true,
        undo_unless_reachable_seconds: 60,
      }),
    ...routers
      .filter(({ state }) => state !== 'answering')
      .slice(0, 2)
      .map((router) => () => job(api, router, 'Time server', '/system ntp client set enabled=yes')),
    ...[...cores.slice(0, 4), ...gateways.slice(0, 4)].map(
      ({ id }) =>
        () =>
          api.call('POST', `/api/routers/${id}/backups`, { parts: ['export'] }),
    ),
    () => api.call('POST', '/api/backup-schedules', { time: '02:30', keep: 14 }),
    () => campaigns(api, newer, older),
    () => aliases(api),
  ]);
}

/** Opens forwards and visits them, until `signal` ends it. */
export async function playForwards(api: Administrator, signal: AbortSignal): Promise<void> {
  const routers = (await allRouters(api)).filter(({ state, identity }) => state === 'answering' && /-(?:gw|core)/.test(identity));
  const targets = [
    { dst_address: '192.168.88.20', dst_port: 80, expire_after_minutes: 60 },
    { dst_address: '192.168.88.21', dst_port: 443, expire_after_minutes: 20 },
    { dst_address: '192.168.88.1', dst_port: 22, expire_after_minutes: 240 },
    { dst_address: '192.168.88.24', dst_port: 8291, expire_after_minutes: 30 },
    { dst_address: '192.168.88.22', dst_port: 5432, expire_after_minutes: 12 },
  ];
  const ports: number[] = [];
  for (const [index, target] of targets.entries()) {
    const router = routers[index * 3];
    if (!router) break;
    const body = { ...target, allow_from: '127.0.0.1/32' };
    ports.push((await api.call<{ port: number }>('POST', `/api/routers/${router.id}/transient-forwarding`, body)).port);
  }
  while (!signal.aborted) {
    // The first two have clients. A visit that fails is the router's outage.
    for (const port of ports.slice(0, 2))
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(VISIT_MS) })
        .then((answer) => answer.text())
        .catch(() => '');
    await pause(VISIT_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function campaigns(api: Administrator, newer: readonly ListedRouter[], older: readonly ListedRouter[]): Promise<void> {
  const ids = (routers: readonly ListedRouter[]): string[] => routers.map(({ id }) => id);
  // A small fleet has smaller ones, and none without enough routers for canaries and the others.
  const share = Math.min(1, newer.length / MOST_IN_CAMPAIGNS);
  const between = (from: number, to: number): string[] => ids(newer.slice(Math.ceil(from * share), Math.ceil(to * share)));
  const start = async (plan: object, routerIds: readonly string[], canaries: number): Promise<void> => {
    if (routerIds.length > canaries) await api.call('POST', '/api/campaigns', { ...plan, router_ids: routerIds, canary_count: canaries });
  };
  const blocked = { ...JOB, description: 'Block lists for customers', script: '/ip dns adlist add url=https://lists.example.net/ads.txt' };
  await start(blocked, [...between(20, 22), ...ids(older.slice(0, 1)), ...between(22, 80)], 3);
  const time = { ...JOB, description: 'Two time servers', script: '/system ntp client servers add address=10.16.1.123' };
  await start({ ...time, rate_per_minute: 20, abort_at_percent: 10 }, between(80, MOST_IN_CAMPAIGNS), 4);
}

async function aliases(api: Administrator): Promise<void> {
  const { data } = await api.call<{ data: { mac_address: string }[] }>('GET', '/arp/devices?limit=6');
  const names = ['Till at the door', 'Camera, yard', 'Front desk', 'Boss', 'Label printer', 'Heat meter'];
  for (const [index, device] of data.entries()) {
    await api.call('PUT', `/arp/devices/${encodeURIComponent(device.mac_address)}`, { alias: names[index]! });
  }
}

async function job(
  api: Administrator,
  router: ListedRouter | undefined,
  description: string,
  script: string,
  more: object = {},
): Promise<void> {
  if (router) await api.call('POST', `/api/asynchronous/${router.id}`, { ...JOB, description, script, ...more });
}

async function inTurn(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) await step();
}

async function allRouters(api: Administrator): Promise<ListedRouter[]> {
  return (await api.call<{ data: ListedRouter[] }>('GET', '/api/routers?limit=5000')).data;
}
