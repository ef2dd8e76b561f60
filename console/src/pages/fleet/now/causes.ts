import type { Router } from '../../../../../client/browser.ts';
import { wordFor } from '../routers/search.ts';

/** One thing to handle: routers that do not answer for what is probably one reason. */
export interface Cause {
  key: string;
  state: 'not_answering' | 'agent_away';
  /** `agent liepaja-port`, or the identity of a single router. */
  name: string;
  reasons: readonly string[];
  count: number;
  /** When the first of them stopped answering. */
  since: string;
  look: { text: string } & ({ routerId: string } | { q: string } | { agentId: string });
}

/**
 * Groups the routers that do not answer: those of one agent that is away are one cause; those that do not answer the same agent for the same
 * reason are one, too. The longest first.
 */
export function causesOf(routers: readonly Router[]): Cause[] {
  const groups = new Map<string, Router[]>();
  for (const router of routers) {
    if (router.state !== 'agent_away' && router.state !== 'not_answering') continue;
    const key = router.state === 'agent_away' ? `away ${router.agent_id}` : `not ${router.agent_id} ${router.state_reason ?? ''}`;
    const group = groups.get(key);
    if (group) group.push(router);
    else groups.set(key, [router]);
  }
  const causes = [...groups].map(([key, group]) => causeOf(key, group));
  return causes.sort((one, other) => (one.since < other.since ? -1 : 1));
}

function causeOf(key: string, group: readonly Router[]): Cause {
  const [first] = group as [Router];
  const state = first.state as Cause['state'];
  const agent = first.agent_name ?? first.agent_id;
  const since = group.reduce((least, { state_since: at }) => (at !== null && at < least ? at : least), first.state_since ?? '');
  const reasons = [...new Set(group.map(({ state_reason: reason }) => reason ?? ''))].filter((reason) => reason !== '');
  const common = { key, state, reasons, count: group.length, since };
  if (state === 'agent_away') return { ...common, name: `agent ${agent}`, look: { text: 'Agent', agentId: first.agent_id } };
  if (group.length === 1) return { ...common, name: first.identity, look: { text: 'Story', routerId: first.id } };
  const q = `state:not_answering ${wordFor('agent', agent)}`;
  return { ...common, name: `${group.length} routers of agent ${agent}`, look: { text: `${group.length} routers`, q } };
}
