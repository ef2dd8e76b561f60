import type { Overview, Router } from '../../../../../client/browser.ts';
import { numberWords } from '../../../parts/sizes.ts';

/** The first thing to know about the fleet, in one sentence and a half. */
export function sentenceOf(
  counts: Record<NonNullable<Router['state']>, number>,
  causes: Overview['common_causes'],
): { strong: string; weak: string } {
  const { answering, not_answering: silent, agent_away: away, never_seen: never } = counts;
  const all = answering + silent + away + never;
  if (all === 0) return { strong: 'No routers yet.', weak: 'Enrol an agent, and the routers that it reaches appear here.' };
  const missing = silent + away;
  if (missing === 0 && never === 0) return { strong: everyone(all), weak: '' };
  if (all === 1 && never === 1)
    return { strong: 'The router was never seen.', weak: 'It was configured, and its agent has not reached it.' };
  const strong = all === 1 ? 'The router does not answer.' : `${numberWords(answering)} of ${numberWords(all)} routers answer.`;
  const agent = causes.find(({ kind }) => kind === 'agent');
  if (agent)
    return {
      strong,
      weak: `The agent ${agent.name ?? agent.value} explains ${numberWords(agent.routers_away)} of the ${numberWords(missing)} that do not.`,
    };
  return { strong, weak: missing === 0 ? `${numberWords(never)} ${never === 1 ? 'was' : 'were'} never seen.` : '' };
}

function everyone(all: number): string {
  if (all === 1) return 'The router answers.';
  return all === 2 ? 'Both routers answer.' : `All ${numberWords(all)} routers answer.`;
}
