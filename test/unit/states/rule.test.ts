import { expect, test } from 'vitest';
import { stateOf } from '../../../server/fleet/states/rule.ts';
import type { RouterFacts } from '../../../server/fleet/states/rule.ts';
import type { Verdict } from '../../../server/fleet/states/types.ts';

const NOW = 100_000;
const SILENT_MS = 75_000;

const never: Verdict = { state: 'never_seen', since: 1000, reason: null };
const answering: Verdict = { state: 'answering', since: 2000, reason: null };
const refusing: Verdict = { state: 'not_answering', since: 3000, reason: 'refused' };
const away: Verdict = { state: 'agent_away', since: 4000, reason: 'network' };

const connected: RouterFacts = { agent: { connected: true, since: 90_000 }, heartbeat: undefined, named: true, heardAt: 80_000 };
const gone: RouterFacts = { ...connected, agent: { connected: false, since: 95_000, reason: 'silence' } };
const up = (at: number): RouterFacts => ({ ...connected, heartbeat: { reachable: true, reason: 'unknown', at } });
const down = (reason: string, at = 99_000): RouterFacts => ({ ...connected, heartbeat: { reachable: false, reason, at } });

test.each<[string, Verdict, RouterFacts, Verdict]>([
  ['a first word', never, up(99_000), { state: 'answering', since: 99_000, reason: null }],
  ['a first word that it does not answer', never, down('timeout'), { state: 'not_answering', since: 99_000, reason: 'timeout' }],
  ['a state goes on since its beginning', answering, up(99_000), answering],
  ['a reason changes, and the state goes on', refusing, down('login_refused'), { ...refusing, reason: 'login_refused' }],
  ['it fails', answering, down('refused'), { state: 'not_answering', since: 99_000, reason: 'refused' }],
  [
    'it went silent',
    answering,
    { ...connected, heartbeat: { reachable: false, reason: 'timeout', at: 99_000, silentSince: 60_000 } },
    { state: 'not_answering', since: 60_000, reason: 'timeout' },
  ],
  ['it answers again', refusing, up(99_500), { state: 'answering', since: 99_500, reason: null }],
  ['its agent goes', answering, gone, { state: 'agent_away', since: 95_000, reason: 'silence' }],
  ['its agent goes while it fails', refusing, gone, { state: 'agent_away', since: 95_000, reason: 'silence' }],
  ['its agent came and went without a word on it', away, gone, { ...away, reason: 'silence' }],
  ['its agent goes, and nothing was ever heard of it', never, gone, never],
  ['its agent is back and has not spoken of it', away, connected, away],
  ['its agent is back and has not tried it', away, down('starting'), away],
  ['its agent has not tried it, and never did', never, down('starting'), never],
  ['its agent starts anew on the same tunnel', answering, down('starting'), { state: 'not_answering', since: 99_000, reason: 'starting' }],
  [
    'its agent is back and does not speak of it for long',
    away,
    { ...connected, agent: { connected: true, since: 20_000 }, heardAt: 10_000 },
    { state: 'not_answering', since: 20_000, reason: 'not_reported' },
  ],
  ['it is new at an agent of long standing', never, { ...connected, agent: { connected: true, since: 5000 }, heardAt: 80_000 }, never],
  [
    'its agent no longer speaks of it',
    answering,
    { ...up(24_000), agent: { connected: true, since: 5000 } },
    { state: 'not_answering', since: 24_000, reason: 'not_reported' },
  ],
  ['just not too long', answering, up(NOW - SILENT_MS), answering],
  [
    'another device has its name',
    answering,
    { ...connected, named: false },
    { state: 'not_answering', since: 80_000, reason: 'not_reported' },
  ],
  [
    'another device has its name, and the agent goes',
    { ...refusing, reason: 'not_reported' },
    { ...gone, named: false },
    { ...refusing, reason: 'not_reported' },
  ],
])('%s', (_what, before, facts, after) => {
  expect(stateOf(before, facts, NOW, SILENT_MS)).toEqual(after);
});
