import { Counter, Gauge } from 'prom-client';
import type { TeamMetric } from '../../../feature.ts';
import type { TeamWork } from '../status/store.ts';
import { OPEN_PHASES } from '../status/store.ts';

/** Metrics by team. Their number depends on the teams alone: no series has a router, an agent or an address in its labels. */

/** A metric with a series for every team and label value, those without anything counted too: an alert sees the first count. */
export function teamMetric({ name, help, type, label, read }: TeamMetric, teamIds: () => readonly string[]): Gauge | Counter {
  const options = { name, help, labelNames: ['team', ...(label ? [label.name] : [])], registers: [] };
  const metric: Gauge | Counter =
    type === 'gauge' ? new Gauge({ ...options, collect: collected }) : new Counter({ ...options, collect: collected });
  async function collected(): Promise<void> {
    const values = await read();
    metric.reset();
    for (const team of teamIds()) {
      if (label) for (const value of label.values) metric.inc({ team, [label.name]: value }, 0);
      else metric.inc({ team }, 0);
    }
    for (const { teamId, labels = {}, value } of values) metric.inc({ team: teamId, ...labels }, value);
  }
  return metric;
}

/** Names of teams, for legends; their open jobs and forwards. @param teams as last read */
export function workMetrics(teams: () => readonly TeamWork[]): Gauge[] {
  return [
    new Gauge({
      name: 'signalbox_team_info',
      help: 'Always 1; gives the name of each team',
      labelNames: ['team', 'name'],
      registers: [],
      collect() {
        this.reset();
        for (const { teamId, name } of teams()) this.set({ team: teamId, name }, 1);
      },
    }),
    new Gauge({
      name: 'signalbox_jobs',
      help: 'Jobs that have not ended, by phase: queued (waits for its router), accepted (at the agent), running',
      labelNames: ['team', 'phase'],
      registers: [],
      collect() {
        this.reset();
        for (const { teamId, jobs } of teams()) for (const phase of OPEN_PHASES) this.set({ team: teamId, phase }, jobs[phase]);
      },
    }),
    new Gauge({
      name: 'signalbox_forwards',
      help: 'Forwards that are not closed',
      labelNames: ['team'],
      registers: [],
      collect() {
        this.reset();
        for (const { teamId, openForwards } of teams()) this.set({ team: teamId }, openForwards);
      },
    }),
  ];
}
