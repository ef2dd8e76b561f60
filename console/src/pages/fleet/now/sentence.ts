import type { Overview } from '../../../../../client/browser.ts';
import type { RouterState } from '../../../parts/lamp.tsx';

/** The first thing to know about the fleet, in one sentence and a half. */
export function sentenceOf(counts: Record<RouterState, number>, causes: Overview['common_causes']): { strong: string; weak: string } {
  const { answering, not_answering: silent, agent_away: away, never_seen: never } = counts;
  const all = answering + silent + away + never;
  if (all === 0) return { strong: 'No routers yet.', weak: 'Enrol an agent, and the routers that it reaches appear here.' };
  const missing = silent + away;
  if (missing === 0 && never === 0) return { strong: everyone(all), weak: '' };
  const strong = `${answering} of ${all} routers answer.`;
  const agent = causes.find(({ kind }) => kind === 'agent');
  if (agent)
    return { strong, weak: `The agent ${agent.name ?? agent.value} explains ${agent.routers_away} of the ${missing} that do not.` };
  return { strong, weak: missing === 0 ? `${never} were never seen.` : '' };
}

function everyone(all: number): string {
  if (all === 1) return 'The router answers.';
  return all === 2 ? 'Both routers answer.' : `All ${all} routers answer.`;
}
