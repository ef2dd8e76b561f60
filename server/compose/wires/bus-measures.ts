import { feature } from '../../feature.ts';
import type { Measures, Platform } from '../../feature.ts';
import { ASK_ENDS } from '../../platform/bus/counts.ts';
import type { SharedLog } from '../../platform/bus/shared-log.ts';
import type { Bus } from '../../platform/bus/types.ts';

/** Metrics of the bus between control planes. A control plane that serves its database alone has none. */
export const busMeasures = feature({
  create: ({ cluster }: Pick<Platform, 'cluster'>) => ({ bus: cluster?.bus ?? null, eventLog: cluster?.log ?? null }),
  measures: ({ bus, eventLog }: { bus: Bus | null; eventLog: SharedLog | null }) => (bus && eventLog ? measuresOf(bus, eventLog) : {}),
});

function measuresOf(bus: Bus, log: SharedLog): Measures {
  const { counts } = bus;
  return {
    gauges: [
      {
        name: 'signalbox_bus_connected',
        help: '1 while the bus between the control planes is connected, else 0',
        read: () => (bus.isConnected ? 1 : 0),
      },
      {
        name: 'signalbox_bus_events_waiting',
        help: 'Events that wait until the bus between the control planes takes them',
        read: () => log.waiting,
      },
    ],
    counts: [
      {
        name: 'signalbox_bus_asks_total',
        help: 'Requests to other control planes, by how they ended',
        labels: ['end'],
        read: () => ASK_ENDS.map((end) => ({ labels: { end }, value: counts.asks[end] })),
      },
      {
        name: 'signalbox_bus_connections_total',
        help: 'Connections to the bus that were made; more than one: it was away',
        labels: [],
        read: () => [{ labels: {}, value: counts.connections }],
      },
      {
        name: 'signalbox_bus_unreadable_total',
        help: 'Messages of other control planes that could not be read',
        labels: [],
        read: () => [{ labels: {}, value: counts.unreadable }],
      },
      {
        name: 'signalbox_bus_events_given_up_total',
        help: 'How often events were given up because too many waited for too long; the readers of the team were told',
        labels: [],
        read: () => [{ labels: {}, value: log.losses }],
      },
    ],
  };
}
