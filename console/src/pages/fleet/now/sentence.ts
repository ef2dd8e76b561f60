import type { Agent, Overview, Router } from '../../../../../client/browser.ts';
import { numberWords } from '../../../parts/sizes.ts';

/** Of a fleet without routers: why there are none. */
export function whyNone(agents: readonly Pick<Agent, 'name' | 'connected' | 'since'>[]): string {
  const [first, ...others] = agents;
  if (first === undefined) return 'Connect an agent, and the routers that it reaches appear here.';
  if (others.length > 0) return 'None of the agents has told of one.';
  if (first.connected) return `${first.name} is connected. The routers that its agent.yaml names appear here.`;
  return first.since === null ? `${first.name} has not connected yet.` : `${first.name} is away.`;
}

/** The first thing to know about a fleet with routers, in one sentence and a half. */
export function sentenceOf(
  counts: Record<NonNullable<Router['state']>, number>,
  causes: Overview['common_causes'],
): { strong: string; weak: string } {
  const { answering, not_answering: silent, agent_away: away, never_seen: never } = counts;
  const all = answering + silent + away + never;
  const missing = silent + away;
  if (missing === 0 && never === 0) return { strong: everyone(all), weak: '' };
  if (all === 1 && never === 1)
    return { strong: 'The router was never seen.', weak: 'It was configured, and its agent has not reached it.' };
  const strong = all === 1 ? 'The router does not answer.' : `${numberWords(answering)} of ${numberWords(all)} routers answer.`;
  const agent = causes.find(({ kind }) => kind === 'agent');
  if (agent) return { strong, weak: behind(agent, missing) };
  return { strong, weak: missing === 0 ? `${numberWords(never)} ${never === 1 ? 'was' : 'were'} never seen.` : '' };
}

function everyone(all: number): string {
  if (all === 1) return 'The router answers.';
  return all === 2 ? 'Both routers answer.' : `All ${numberWords(all)} routers answer.`;
}

/** How many of those that do not answer stand behind one agent. Whether that is away is not known here: its routers may be silent while it is there. */
function behind({ name, value, routers_away: routers }: Overview['common_causes'][number], missing: number): string {
  const agent = `the agent ${name ?? value}`;
  if (routers === missing) return missing === 1 ? `It is behind ${agent}.` : `Those that do not are behind ${agent}.`;
  return `${numberWords(routers)} of the other ${numberWords(missing)} are behind ${agent}.`;
}
