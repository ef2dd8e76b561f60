import type { StreamEvent } from '../../events.ts';
import { reasonText } from '../state-words.ts';
import { textOf } from './model.ts';
import type { FleetModel } from './model.ts';

type Names = Pick<FleetModel, 'nameOf' | 'agentNameOf'>;

export interface FeedParts {
  /** Of the day, UTC. */
  time: string;
  type: string;
  /** The router, agent or campaign. */
  about: string;
  /** Text of the event. */
  details: string;
}

/** An event for people. */
export function feedParts({ type, data }: StreamEvent, names: Names): FeedParts {
  const word = (name: string): string => textOf(data[name]);
  const [router, agent] = [word('router_id'), word('agent_id')];
  const about = word('identity') || (router === '' ? word('name') || (agent === '' ? '' : names.agentNameOf(agent)) : names.nameOf(router));
  const told = (name: string): string => (REASONS.has(name) ? (reasonText(word(name)) ?? '') : word(name));
  const details = (DETAILS[type.split('.')[0]!] ?? []).map(told).filter((text) => text !== '');
  return { time: word('at').slice(11, 19), type, about, details: details.join('  ') };
}

/** Fields that say what happened, by kind of record. */
const DETAILS: Readonly<Record<string, readonly string[]>> = {
  router: ['state', 'state_reason'],
  agent: ['ended_by', 'address'],
  job: ['description', 'reason'],
  fault: ['severity', 'message'],
  forward: ['dst_address', 'allow_only_cidr'],
  campaign: ['description', 'state'],
  backup: ['state'],
  config: ['summary'],
};

/** Those that say why something is away. */
const REASONS: ReadonlySet<string> = new Set(['state_reason', 'ended_by']);

/** The same as one line. */
export function feedLine(event: StreamEvent, names: Names): string {
  const { time, type, about, details } = feedParts(event, names);
  return [time, type, about, details].filter((text) => text !== '').join('  ');
}
