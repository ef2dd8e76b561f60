import type { Measures } from '../../feature.ts';
import type { TeamValue } from '../../platform/core/team-counts.ts';

/** Traffic of all forwards of a team since the start of this process, open connections included. */
export interface TeamTraffic {
  connections: number;
  openConnections: number;
  refused: number;
  bytesIn: number;
  bytesOut: number;
}

/** @param traffic by team */
export function forwardMeasures(traffic: () => ReadonlyMap<string, TeamTraffic>): Measures {
  const each = (valuesOf: (team: TeamTraffic) => Omit<TeamValue, 'teamId'>[]) => (): TeamValue[] =>
    [...traffic()].flatMap(([teamId, team]) => valuesOf(team).map((value) => ({ teamId, ...value })));
  return {
    teams: [
      {
        name: 'signalbox_forward_open_connections',
        help: 'Open connections through forwards',
        type: 'gauge',
        read: each((team) => [{ value: team.openConnections }]),
      },
      {
        name: 'signalbox_forward_connections_total',
        help: 'Connections through forwards, open ones included',
        type: 'counter',
        read: each((team) => [{ value: team.connections }]),
      },
      {
        name: 'signalbox_forward_refused_connections_total',
        help: 'Connections that a forward refused: another source, or too many at once',
        type: 'counter',
        read: each((team) => [{ value: team.refused }]),
      },
      {
        name: 'signalbox_forwarded_bytes_total',
        help: 'Bytes through forwards; in: from clients to targets',
        type: 'counter',
        label: { name: 'direction', values: ['in', 'out'] },
        read: each(({ bytesIn, bytesOut }) => [
          { labels: { direction: 'in' }, value: bytesIn },
          { labels: { direction: 'out' }, value: bytesOut },
        ]),
      },
    ],
  };
}
