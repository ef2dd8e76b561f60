import { expect, it } from 'vitest';
import { sentenceOf, whyNone } from '../../../console/src/pages/fleet/now/sentence.ts';

const counts = (answering: number, silent: number, away: number, never: number) => ({
  answering,
  not_answering: silent,
  agent_away: away,
  never_seen: never,
});

it.each([
  [counts(1, 0, 0, 0), 'The router answers.'],
  [counts(0, 1, 0, 0), 'The router does not answer.'],
  [counts(0, 0, 0, 1), 'The router was never seen. It was configured, and its agent has not reached it.'],
  [counts(2, 0, 0, 0), 'Both routers answer.'],
  [counts(2, 0, 0, 1), '2 of 3 routers answer. 1 was never seen.'],
  [counts(2, 0, 0, 2), '2 of 4 routers answer. 2 were never seen.'],
  [counts(4000, 500, 500, 0), '4,000 of 5,000 routers answer.'],
])('says of %o: %s', (states, said) => {
  const { strong, weak } = sentenceOf(states, []);
  expect(`${strong} ${weak}`.trim()).toBe(said);
});

const agent = (connected: boolean, since: string | null) => ({ name: 'desk-lab', connected, since });

it.each([
  [[], 'Connect an agent, and the routers that it reaches appear here.'],
  [[agent(false, null)], 'desk-lab has not connected yet.'],
  [[agent(true, '2031-05-01T08:30:00.000Z')], 'desk-lab is connected. The routers that its agent.yaml names appear here.'],
  [[agent(false, '2031-05-01T08:30:00.000Z')], 'desk-lab is away.'],
  [[agent(true, null), agent(false, null)], 'None of the agents has told of one.'],
])('says of a fleet without routers, with the agents %o: %s', (agents, said) => {
  expect(whyNone(agents)).toBe(said);
});

const behind = (routers: number) => ({
  kind: 'agent' as const,
  value: 'id',
  name: 'depot',
  routers_away: routers,
  routers,
  since: '2031-05-01T08:30:00.000Z',
});

it.each([
  [counts(0, 0, 1, 0), behind(1), 'The router does not answer. It is behind the agent depot.'],
  [counts(0, 0, 2, 0), behind(2), '0 of 2 routers answer. Those that do not are behind the agent depot.'],
  // The agent is there, and hears nothing of them.
  [counts(5, 4, 0, 0), behind(4), '5 of 9 routers answer. Those that do not are behind the agent depot.'],
  [counts(5, 1, 3, 0), behind(3), '5 of 9 routers answer. 3 of the other 4 are behind the agent depot.'],
])('says which agent is the cause: %o, %o: %s', (states, cause, said) => {
  const { strong, weak } = sentenceOf(states, [cause]);
  expect(`${strong} ${weak}`).toBe(said);
});
