import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import type { AgentHolders } from '../agents/service.ts';
import type { FaultsService } from '../faults/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { StatesService } from '../states/service.ts';
import { Manufacturers } from './manufacturers.ts';
import { deviceRoutes } from './routes.ts';
import { DevicesService } from './service.ts';
import { describeTruncation } from './truncation.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters'> {
  routers: RoutersService;
  faults: FaultsService;
  states: StatesService;
  agentHolders: AgentHolders | null;
}

export const devices = feature({
  create: ({ config, storage, clock, log, counters, routers, faults, states, agentHolders }: Needs) => ({
    devices: new DevicesService({
      storage,
      clock,
      log: log.child({ component: 'devices' }),
      routers,
      manufacturers: new Manufacturers(),
      onTotal: (routerId, total) => faults.setCondition(routerId, 'devices_truncated', describeTruncation(total)),
      isElsewhere: agentHolders ? (routerId) => agentHolders.isElsewhere(states.find(routerId)?.agentId ?? '') : undefined,
      counters,
      keepMs: config.keepDevicesMs,
      agentsApartMs: AGENTS_APART_MS,
    }),
  }),
  start: (own) => own.devices.start(),
  stop: (own) => own.devices.stop(),
  agentListener: ({ devices }) => ({
    onGone: (connection) => devices.onGone(connection),
    onDevices: (connection, report) => devices.onDevices(connection, report),
  }),
  measures: ({ devices }) => ({
    gauges: [{ name: 'signalbox_devices_truncated', help: 'Routers with more devices than the limit', read: () => devices.truncated }],
  }),
  routes: deviceRoutes,
});
