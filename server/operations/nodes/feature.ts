import { feature } from '../../feature.ts';
import type { Measures, Platform } from '../../feature.ts';
import { SERVER_VERSION } from '../../version.ts';
import { internalNodeRoutes, nodeRoutes } from './routes.ts';
import { NodesService } from './service.ts';

/** The control planes that serve the database, for its operator. */
export const nodes = feature({
  create: ({ storage, cluster, log }: Pick<Platform, 'storage' | 'cluster' | 'log'>) => ({
    nodes: new NodesService({ storage, cluster, log: log.child({ component: 'nodes' }) }),
  }),
  measures: ({ nodes: { cluster } }) => measuresOf(cluster),
  routes: (scope, services: { nodes: NodesService }) => nodeRoutes(scope, services),
  internalRoutes: (scope, services: { nodes: NodesService }) => internalNodeRoutes(scope, services),
});

/** A control plane that serves its database alone has none. */
function measuresOf(cluster: Platform['cluster']): Measures {
  if (!cluster) return {};
  return {
    gauges: [
      {
        name: 'signalbox_node_info',
        help: 'Always 1: which of the control planes this one is',
        labels: { node: cluster.nodeId, version: SERVER_VERSION },
        read: () => 1,
      },
      { name: 'signalbox_nodes', help: 'Control planes that count, as this one knows', read: () => cluster.members.ids.length },
      {
        name: 'signalbox_node_counted',
        help: '1 while the others count on this control plane, else 0',
        read: () => (cluster.isCounted() ? 1 : 0),
      },
    ],
  };
}
