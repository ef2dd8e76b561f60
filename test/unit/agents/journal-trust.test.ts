import { expect, test } from 'vitest';
import { mustReset } from '../../../server/fleet/agents/journal-trust.ts';

const OURS = 'journal-1';
const OTHER = 'journal-2';

test.each([
  {
    case: 'first connection of a new agent',
    agent: { journalId: OURS, lastEpoch: 0 },
    known: { confirmedEpoch: 0, journalId: null },
    reset: false,
  },
  {
    case: 'a second try after a first that never became ready',
    agent: { journalId: OURS, lastEpoch: 1 },
    known: { confirmedEpoch: 0, journalId: null },
    reset: false,
  },
  { case: 'ordinary reconnect', agent: { journalId: OURS, lastEpoch: 5 }, known: { confirmedEpoch: 5, journalId: OURS }, reset: false },
  {
    case: 'the agent stored an epoch, its ready was lost',
    agent: { journalId: OURS, lastEpoch: 6 },
    known: { confirmedEpoch: 5, journalId: OURS },
    reset: false,
  },
  {
    case: 'disk restored from an older image',
    agent: { journalId: OURS, lastEpoch: 4 },
    known: { confirmedEpoch: 5, journalId: OURS },
    reset: true,
  },
  { case: 'disk wiped', agent: { journalId: OTHER, lastEpoch: 0 }, known: { confirmedEpoch: 5, journalId: OURS }, reset: true },
  {
    case: 'a reset whose ready was lost',
    agent: { journalId: OTHER, lastEpoch: 6 },
    known: { confirmedEpoch: 5, journalId: OURS },
    reset: true,
  },
])('$case: reset $reset', ({ agent, known, reset }) => {
  expect(mustReset(agent, { epoch: known.confirmedEpoch + 1, ...known })).toBe(reset);
});
