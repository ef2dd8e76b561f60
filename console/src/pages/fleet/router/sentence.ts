import type { Agent, Router } from '../../../../../client/browser.ts';
import { wordOf } from '../../../parts/state-words.ts';
import { shortTime } from '../../../parts/times.ts';

/** What is the matter with a router, since when and why. @param agent undefined while it is not read */
export function routerSentence(router: Router, agent?: Agent): { strong: string; weak: string } {
  const { state, state_since: since, state_reason: reason } = router;
  const from = since === null ? '' : ` since ${shortTime(since)}`;
  const why = reason === null ? '' : `: ${wordOf(reason)}`;
  switch (state) {
    case 'answering':
      return { strong: `The router has answered${from}.`, weak: connected(router, agent) };
    case 'not_answering':
      if (reason === 'login_refused') return { strong: `The router has refused its login${from}.`, weak: connected(router, agent) };
      return { strong: `The router has not answered${from}${why}.`, weak: connected(router, agent) };
    case 'agent_away':
      return { strong: `Its agent has been away${from}${why}.`, weak: 'Nobody can ask the router meanwhile.' };
    case 'never_seen':
      return { strong: 'Nobody has heard of this router yet.', weak: 'It was configured, and its agent has not reached it.' };
    case null:
      return { strong: 'This router was removed.', weak: 'Its history is kept.' };
  }
}

function connected({ agent_name: name }: Router, agent: Agent | undefined): string {
  if (!agent?.connected) return `Its agent ${name ?? ''} is connected.`;
  const since = agent.since === null ? '' : ` since ${shortTime(agent.since)}`;
  return `Its agent ${agent.name} is connected${since}${agent.address === null ? '' : ` from ${agent.address}`}.`;
}
