import { expect, it } from 'vitest';
import { sentenceOf } from '../../../console/src/pages/fleet/now/sentence.ts';

const counts = (answering: number, silent: number, away: number, never: number) => ({
  answering,
  not_answering: silent,
  agent_away: away,
  never_seen: never,
});

it.each([
  [counts(0, 0, 0, 0), 'No routers yet. Enrol an agent, and the routers that it reaches appear here.'],
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
