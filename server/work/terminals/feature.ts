import type { AuditService } from '../../access/audit/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { attachRoute } from './attach/routes.ts';
import type { AttachRouteDeps } from './attach/routes.ts';
import { teamTerminalsRoute } from './list/routes.ts';
import { terminalRoutes } from './routes.ts';
import type { TerminalRoutesDeps } from './routes.ts';
import { TerminalsService } from './service.ts';

export { isAttachRequest } from './attach/routes.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'secrets' | 'clock' | 'log' | 'counters' | 'cluster'> {
  audit: AuditService;
  routers: RoutersService;
  gateway: AgentGateway;
}

/** Shells of routers for people: opened by the agent, attached to by one-use tickets, recorded. */
export const terminals = feature({
  create: ({ config, log, cluster, ...needs }: Needs) => ({
    terminals: new TerminalsService({
      ...needs,
      log: log.child({ component: 'terminals' }),
      keepRecordingsMs: config.keepRecordingsMs,
      cluster: cluster && config.cluster && { ...cluster, channelUrl: config.cluster.nodeUrl },
    }),
  }),
  start: (own) => own.terminals.start(),
  stop: (own) => own.terminals.stop(),
  sweep: (own, signal) => own.terminals.recordings.sweep(signal),
  agentListener: (own) => ({
    onReady: (connection) => own.terminals.onReady(connection),
    onTerminalEnded: (connection, { terminal_id: id, reason, message }) => {
      own.terminals.onShellEnded(connection, id, { reason, message });
    },
  }),
  measures: (own) => ({
    shares: { open_terminals: own.terminals.shares },
    teams: [
      {
        name: 'signalbox_open_terminals',
        help: 'Open terminals',
        type: 'gauge',
        read: () => [...own.terminals.openByTeam()].map(([teamId, value]) => ({ teamId, value })),
      },
    ],
  }),
  routes: (scope, services: TerminalRoutesDeps) => {
    terminalRoutes(scope, services);
    teamTerminalsRoute(scope, services);
  },
  openRoutes: (scope, services: AttachRouteDeps) => attachRoute(scope, services),
});
