import type { Router } from '../../../../../client/browser.ts';
import { wordOf } from '../../../parts/state-words.ts';
import { shortTime } from '../../../parts/times.ts';

/** What is the matter with a router, since when and why. */
export function routerSentence({ state, state_since: since, state_reason: reason, agent_name: agent }: Router): {
  strong: string;
  weak: string;
} {
  const from = since === null ? '' : ` since ${shortTime(since)}`;
  const why = reason === null ? '' : `: ${wordOf(reason)}`;
  switch (state) {
    case 'answering':
      return { strong: `The router has answered${from}.`, weak: `Its agent ${agent ?? ''} is connected.` };
    case 'not_answering':
      return { strong: `The router has not answered${from}${why}.`, weak: `Its agent ${agent ?? ''} is connected.` };
    case 'agent_away':
      return { strong: `Its agent has been away${from}${why}.`, weak: 'Nobody can ask the router meanwhile.' };
    case 'never_seen':
      return { strong: 'Nobody has heard of this router yet.', weak: 'It was configured, and its agent has not reached it.' };
    case null:
      return { strong: 'This router was removed.', weak: 'Its history is kept.' };
  }
}
