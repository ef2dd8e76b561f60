import process from 'node:process';
import type { Choice } from './field.ts';
import { remoteCommandRows } from './cluster/command-rows.ts';
import { eventRows } from './cluster/event-rows.ts';
import { connectFleet, killRows, rollRows } from './cluster/fleet-rows.ts';
import { remoteForwardRows } from './cluster/forward-rows.ts';
import { homeRows } from './cluster/home-rows.ts';
import { idleRows } from './cluster/idle-rows.ts';
import { LIMITED, limitRows } from './cluster/limit-rows.ts';
import { BenchMembers } from './cluster/members.ts';
import { startOneAgent } from './cluster/one-agent.ts';
import { throughputRows } from './cluster/throughput-rows.ts';
import type { Row } from './report.ts';
import { startTargets } from './targets.ts';

const NODES = 3;
/** A fault `agent_offline` opens after this time without the agent: a moved one that is not known as such would have one. */
const OFFLINE = { SIGNALBOX_HEARTBEAT_SECONDS: '10', SIGNALBOX_OFFLINE_AFTER_SECONDS: '40' };

/** The bars of several control planes that a machine with two cores can measure in minutes. */
export async function clusterRows({ agents }: Choice): Promise<Row[]> {
  return [
    ...(await withMembers({ agents: 1 }, async (members) => [
      ...(await attempt('idle nodes', () => idleRows(members))),
      ...(await attempt('events', () => eventRows(members))),
      ...(await oneAgentRows(members)),
    ])),
    ...(await withMembers({ agents: 1, env: LIMITED }, (members) => attempt('the limit of a key', () => limitRows(members)))),
    ...(await withMembers({ agents: agents[0]!, env: OFFLINE }, async (members) => {
      const fleet = await connectFleet(members);
      try {
        return [
          ...(await attempt('throughput', () => throughputRows(members))),
          ...(await attempt('kill', () => killRows(members, fleet))),
          ...(await attempt('rolling restart', () => rollRows(members, fleet))),
        ];
      } finally {
        await fleet.stop();
      }
    })),
  ];
}

async function oneAgentRows(members: BenchMembers): Promise<Row[]> {
  const targets = await startTargets();
  const agent = await startOneAgent(members);
  try {
    return [
      ...(await attempt('commands', () => remoteCommandRows(members, agent))),
      ...(await attempt('forwards', () => remoteForwardRows(members, agent, targets))),
      ...(await attempt('the home of a forward', () => homeRows(members, agent, targets))),
    ];
  } finally {
    await agent.close();
    targets.close();
  }
}

async function withMembers(
  options: { agents: number; env?: Record<string, string> },
  work: (members: BenchMembers) => Promise<Row[]>,
): Promise<Row[]> {
  const members = await BenchMembers.start({ nodes: NODES, ...options });
  try {
    return await work(members);
  } finally {
    await members.close();
  }
}

/** What cannot be measured misses its bar, and the others are measured all the same. */
async function attempt(what: string, measure: () => Promise<Row[]>): Promise<Row[]> {
  process.stderr.write(`  ${what} …\n`);
  try {
    const rows = await measure();
    // It takes minutes: what is known is told at once.
    for (const { name, detail } of rows) process.stderr.write(`    ${name}: ${detail}\n`);
    return rows;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [{ name: what, ratio: Number.POSITIVE_INFINITY, bar: { at: 'most', value: 1 }, detail: `not measured: ${detail}` }];
  }
}
