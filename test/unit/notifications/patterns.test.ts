import { expect, test } from 'vitest';
import { entriesFor, hasKind } from '../../../server/platform/notices/patterns.ts';

test.each([
  [['fault.router_offline'], 'fault.router_offline', true],
  [['fault.router_offline'], 'fault.wan_down', false],
  [['fault.*'], 'fault.wan_down', true],
  [['job.*'], 'job.failed', true],
  [['job.*'], 'fault.wan_down', false],
  [['*'], 'config.changed', true],
  [[], 'config.changed', false],
  // Names of the event stream.
  [['router.offline'], 'fault.router_offline', true],
  [['agent.*'], 'fault.agent_offline', true],
  [['agent.*'], 'agent.revoked', true],
  [['fault.opened'], 'fault.high_cpu', true],
  [['fault.resolved'], 'fault.high_cpu', false],
])('a topic with %j and the kind %s', (entries, kind, matches) => {
  expect(hasKind(entries, kind)).toBe(matches);
});

test('every entry is named once', () => {
  expect(entriesFor('job.failed')).toEqual(['job.failed', 'job.*', '*']);
  expect(entriesFor('fault.router_offline')).toEqual([
    'fault.router_offline',
    'router.offline',
    'fault.opened',
    'fault.*',
    'router.*',
    '*',
  ]);
});
