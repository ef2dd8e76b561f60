import type { ControlPlane } from '../../../../../client/browser.ts';

export const words = {
  forAll: 'Processes that serve this installation, for all of its teams.',
  drainFirst: 'Drain one before you stop it: its agents go to the others first.',
  /** What is shown is old: the reason follows. */
  asOf: (time: string) => `As of ${time}.`,
  alone: {
    title: 'This control plane serves its database alone.',
    runs: 'It is {name}, version {version}, and runs since {time}.',
    text: 'There is no other one to give its agents to. Several on one PostgreSQL are listed here: docs/cluster.md says how to run them.',
  },
  table: 'Control planes',
  column: {
    name: 'Control plane',
    state: 'State',
    version: 'Version',
    bus: 'Bus',
    started: 'Started',
    beat: 'Last beat',
    agents: 'Agents',
    clients: 'Clients',
    actions: 'Actions',
  },
  bus: { on: 'connected', off: 'cut off' },
  answers: (url: string | null) => `answers this page, ${url ?? ''}`,
  version: { differs: 'differs', title: 'Another version than that of the one that answers this page' },
  act: { drain: 'Drain', resume: 'Take work again' },
  drain: { title: (name: string) => `Drain ${name}?`, act: 'Drain' },
  resume: {
    title: (name: string) => `Let ${name} take work again?`,
    act: 'Take work again',
    about:
      'The load balancer sends it new requests and agents again. Of the agents that have gone to the others it gets its share, over some minutes.',
  },
};

/**
 * Control planes give a sign of life every 2 s. One that has given none for this long gets no new clients, and after 10 s the others do not
 * count on it any more; seconds.
 */
const SILENT_SECONDS = 7;

/**
 * `drained`: it was told to give its agents away, and has none left. `unseen`: the one that answers has started a moment ago and has seen no
 * sign of life of it yet.
 */
export type NodeState = 'up' | 'draining' | 'drained' | 'silent' | 'unseen';

export function stateOf({ state, tunnels, beat_age_seconds: age }: ControlPlane): NodeState {
  if (age === null) return 'unseen';
  if (age >= SILENT_SECONDS) return 'silent';
  if (state === 'up') return 'up';
  return tunnels === 0 ? 'drained' : 'draining';
}

export const STATE_WORDS: Record<NodeState, string> = {
  up: 'up',
  draining: 'draining',
  drained: 'drained',
  silent: 'not answering',
  unseen: 'not seen yet',
};

/** One that serves its database alone has no address of its own, and on SQLite no entry. */
export function isAlone(nodes: readonly ControlPlane[]): boolean {
  return nodes.every(({ public_url: url }) => url === null);
}

/** The others have to take what it gives away. */
export function mayDrain(node: ControlPlane, nodes: readonly ControlPlane[]): boolean {
  return node.state === 'up' && nodes.some((other) => other.id !== node.id && stateOf(other) === 'up');
}

/** The version of the one that answers, with which the others are compared. */
export function versionOf(nodes: readonly ControlPlane[]): string | undefined {
  return (nodes.find(({ answers }) => answers) ?? nodes[0])?.version;
}

/** `3 control planes: 2 up, 1 draining.`, and whether their versions differ. */
export function sentenceOf(nodes: readonly ControlPlane[]): string {
  const versions = new Set(nodes.map(({ version }) => version)).size;
  return versions === 1 ? `${countsOf(nodes)}.` : `${countsOf(nodes)}. They run ${versions} versions.`;
}

function countsOf(nodes: readonly ControlPlane[]): string {
  const counts = new Map<NodeState, number>();
  for (const state of nodes.map(stateOf)) counts.set(state, (counts.get(state) ?? 0) + 1);
  const [first, ...others] = [...counts].map(([state, count]) => ({ count, word: STATE_WORDS[state] }));
  if (nodes.length === 1) return `1 control plane, ${first!.word}`;
  if (others.length === 0) return `${nodes.length} control planes, all ${first!.word}`;
  return `${nodes.length} control planes: ${[first!, ...others].map(({ count, word }) => `${count} ${word}`).join(', ')}`;
}

export function ageOf({ beat_age_seconds: age }: ControlPlane): string {
  return age === null ? '' : `${age.toFixed(1)} s`;
}

function whatAgentsDo(count: number): string {
  if (count === 0) return 'It has no agents, and takes none.';
  const [agents, each] = count === 1 ? ['Its agent is', 'It'] : [`Its ${count} agents are`, 'Each'];
  return `${agents} sent to the others, once the load balancer has had time to notice. ${each} connects again within seconds, and no job is lost.`;
}

/** What the question before a drain says; `answers`: it answers this page. */
export function whatDrains({ tunnels, answers }: ControlPlane): readonly string[] {
  return [
    'The load balancer is told to send it no new requests, and work that one control plane does for all moves to the others.',
    whatAgentsDo(tunnels),
    'Forwards, event streams and terminals that are open through it stay until it is stopped. It goes on running, so stop it when its agents are gone, or let it take work again.',
    ...(answers ? ['It also answers this page: the next requests may go to another one.'] : []),
  ];
}
