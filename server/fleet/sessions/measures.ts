import type { Measures } from '../../feature.ts';
import { TUNNEL_ENDS } from '../../platform/core/tunnel-record.ts';
import { TeamCounts } from '../../platform/core/team-counts.ts';
import type { SessionsService } from './service.ts';

/** Seconds: from one machine room to a satellite, and the longest that a ping is waited for. */
const ROUND_TRIPS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

export function sessionMeasures(sessions: SessionsService): Measures {
  const opened = new TeamCounts();
  const ended = new TeamCounts('ended_by');
  const lost = new TeamCounts();
  sessions.changes.subscribe(({ kind, teamId }) => {
    if (kind === 'online') opened.add(teamId);
  });
  sessions.ends.subscribe(({ teamId, endedBy }) => ended.add(teamId, 1, endedBy));
  sessions.pings.subscribe(({ teamId, roundTripMs }) => {
    if (roundTripMs === null) lost.add(teamId);
  });
  return {
    teams: [
      {
        name: 'signalbox_agents',
        help: 'Agents that are not revoked, by whether they have a session',
        type: 'gauge',
        label: { name: 'state', values: ['connected', 'away', 'never_connected'] },
        read: () => sessions.countAgents(),
      },
      {
        name: 'signalbox_agent_sessions_opened_total',
        help: 'Sessions of agents that became ready',
        type: 'counter',
        read: () => opened.values(),
      },
      {
        name: 'signalbox_agent_sessions_ended_total',
        help: 'Sessions of agents that ended, by how; those that were refused before they were ready too',
        type: 'counter',
        label: { name: 'ended_by', values: TUNNEL_ENDS },
        read: () => ended.values(),
      },
      {
        name: 'signalbox_agent_pings_lost_total',
        help: 'Pings to agents without an answer in time',
        type: 'counter',
        read: () => lost.values(),
      },
    ],
    histograms: [
      {
        name: 'signalbox_agent_round_trip_seconds',
        help: 'Round trips of pings to agents, one for each agent every 20 to 25 s',
        buckets: ROUND_TRIPS,
        listen: (observe) =>
          sessions.pings.subscribe(({ roundTripMs }) => {
            if (roundTripMs !== null) observe(roundTripMs / 1000);
          }),
      },
    ],
  };
}
