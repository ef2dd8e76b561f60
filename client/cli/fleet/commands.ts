import type { Command } from '../command.ts';
import { agentId } from '../names.ts';
import { bytesText, durationText } from '../quantities.ts';
import { reasonText } from '../state-words.ts';
import { table } from '../text.ts';
import type { AgentSession } from '../../generated.ts';
import { readFleet } from './fleet.ts';
import { history } from './history-command.ts';
import { statusText } from './status-text.ts';
import { top } from './top.ts';

/** Rows of each list: with a few open lists everything is on one screen. */
const STATUS_ROWS = 5;

const status: Command = {
  name: 'status',
  summary: 'show the fleet on one screen: states, what is away, since when and why',
  positionals: [],
  options: { limit: { value: 'N', help: `at most N rows of each list; default: ${STATUS_ROWS}` } },
  examples: ['status', 'status --limit 50', 'status --json'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const rows = input.number('limit') ?? STATUS_ROWS;
    const fleet = await readFleet(signalbox, signal);
    const { at, overview, down, faults, runningJobs, openForwards, runningCampaigns } = fleet;
    return {
      json: {
        at: new Date(at).toISOString(),
        overview,
        down,
        open_faults: faults,
        running_jobs: runningJobs,
        open_forwards: openForwards,
        running_campaigns: runningCampaigns,
      },
      text: statusText(fleet, signalbox.host, { width: columns, rows }),
    };
  },
};

/** Sessions of about two weeks of a well connected agent. */
const SESSIONS = 50;

const sessions: Command = {
  name: 'sessions',
  summary: 'list the sessions of an agent, newest first, and how each ended',
  positionals: ['AGENT'],
  options: { limit: { value: 'N', help: `at most N sessions; default: ${SESSIONS}` } },
  examples: ['sessions gw-depot', 'sessions 01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35 --limit 5 --json'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const id = await agentId(signalbox, signal, input.at(0));
    const query = { limit: input.number('limit') ?? SESSIONS };
    const { result, at = Date.now() } = await signalbox.read('listAgentSessions', { path: { agent_id: id }, query }, { signal });
    const text = table(
      result.data,
      [
        ['OPENED', (session) => session.opened_at],
        ['LASTED', (session) => lastedText(session, at)],
        ['ENDED BY', (session) => reasonText(session.ended_by) ?? '(open)'],
        ['FROM', (session) => session.address],
        ['ROUND TRIP', roundTripText],
        ['LOST', (session) => session.pings_lost],
        ['IN', (session) => sizeText(session.bytes_in), 2],
        ['OUT', (session) => sizeText(session.bytes_out), 2],
        ['VERSION', (session) => session.agent_version, 3],
        ['EPOCH', (session) => session.epoch, 1],
      ],
      'no sessions yet',
      columns,
    );
    return { json: result.data, text };
  },
};

function lastedText({ opened_at: opened, closed_at: closed }: AgentSession, at: number): string {
  return durationText((closed === null ? at : Date.parse(closed)) - Date.parse(opened));
}

/** Median and 95th percentile of the pings. */
function roundTripText({ round_trip_ms: trips }: AgentSession): string {
  return trips === null ? '-' : `${milliseconds(trips.p50)} (95 %: ${milliseconds(trips.p95)})`;
}

function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

function sizeText(bytes: number | null): string {
  return bytes === null ? '-' : bytesText(bytes);
}

export const fleetCommands: readonly Command[] = [status, top, history, sessions];
