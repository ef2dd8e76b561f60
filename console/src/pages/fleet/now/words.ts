import { numberWords } from '../../../parts/sizes.ts';

/** How the board is drawn. */
const HOW = 'agents above, routers below, last 24 hours. Trouble first, then by name.';

export const words = {
  connect: 'Connect an agent.',
  noRouters: 'No routers yet.',
  connectOne: 'Connect an agent',
  run: 'Run on routers',
  openWhat: 'What is open',
  tally: {
    answering: (percent: number, all: number) => `${percent} % of ${numberWords(all)}`,
    critical: (count: number) => `${numberWords(count)} critical ${count === 1 ? 'fault' : 'faults'} open`,
    away: (away: number, agents: number) => `${away} of ${agents} ${agents === 1 ? 'agent' : 'agents'} away`,
    unseen: (count: number) => `${count} ${count === 1 ? 'agent has' : 'agents have'} not connected yet`,
  },
  board: {
    title: 'The board',
    sites: (count: number) => `${count} ${count === 1 ? 'site' : 'sites'}, ${HOW}`,
    allRouters: `all routers, ${HOW}`,
    legend: '{heard} heard {away} agent away {not} not answering {unknown} nobody knew {never} not seen yet',
    more: (count: number) => `${numberWords(count)} more ${count === 1 ? 'site' : 'sites'}`,
    share: (answering: number, routers: number) => `${answering} of ${routers} ${answering === 1 || routers === 1 ? 'answers' : 'answer'}`,
    /** After the numbers, for readers. */
    answer: 'answer',
  },
  events: {
    title: 'Last events',
    since: 'since this page was opened',
    none: 'Nothing has changed yet. Changes appear here by themselves.',
  },
  open: {
    title: 'Open now',
    none: 'No forward, terminal, job, campaign or fault.',
    forwards: (count: number) => `${count} ${count === 1 ? 'forward' : 'forwards'}`,
    terminals: (count: number) => `${count} ${count === 1 ? 'terminal' : 'terminals'}`,
    client: (address: string) => `for ${address}`,
    left: (time: string) => `${time} left`,
    moreForwards: 'more forwards',
    moreTerminals: 'more terminals',
    campaigns: 'campaigns running',
    jobs: 'jobs waiting or running, made in 24 h',
    unknownJobs: 'jobs whose end is unknown, made in 24 h',
    faults: 'faults open',
  },
  handle: {
    title: 'To handle',
    heads: { cause: 'Cause', why: 'Why', routers: 'Routers', since: 'For', look: 'Look at' },
    causes: (count: number) => `${count} ${count === 1 ? 'cause' : 'causes, longest first'}`,
    noRouter: 'Nothing: there is no router yet.',
    none: 'Nothing. Every router that was ever seen answers.',
    more: (count: number) =>
      count === 1 ? 'One more cause, shorter than these.' : `${numberWords(count)} more causes, each shorter than these.`,
    routers: (count: number) => (count === 1 ? 'The router' : `All ${numberWords(count)} routers`),
    common: (causes: string) => `What they have in common: ${causes}.`,
    cause: (kind: string, name: string, away: number, routers: number) => `${kind} ${name} (${away} of its ${routers} routers)`,
  },
};
