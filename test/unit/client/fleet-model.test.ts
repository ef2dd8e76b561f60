import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FleetModel } from '../../../client/cli/fleet/model.ts';
import type { RunningJob, WatchedRouter } from '../../../client/cli/fleet/model.ts';
import type { StreamEvent } from '../../../client/events.ts';
import type { Overview } from '../../../client/generated.ts';

const STATES = ['answering', 'not_answering', 'agent_away', 'never_seen'] as const;
const overview = {} as Overview;

/** What a server does, one change after the other. */
const change = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('state' as const), router: fc.nat(5), state: fc.constantFrom(...STATES) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removed' as const), router: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('job' as const),
      job: fc.nat(3),
      status: fc.constantFrom('pending', 'running', 'completed', 'failed', 'unknown', 'deleted'),
    }),
  },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** The truth, and the events of each change. */
class Server {
  readonly routers = new Map<string, WatchedRouter>();
  readonly jobs = new Map<string, RunningJob>();
  readonly events: StreamEvent[] = [];

  do(next: Change): void {
    const at = new Date(this.events.length * 1000).toISOString();
    const tell = (type: StreamEvent['type'], data: Record<string, unknown>): void =>
      void this.events.push({ id: String(this.events.length), type, data: { at, ...data } });
    if (next.kind === 'state') {
      const id = `r${next.router}`;
      const facts = { identity: id, state: next.state, state_since: at, state_reason: null, agent_id: 'a' };
      this.routers.set(id, { id, ...facts, agent_name: null });
      tell('router.changed', { router_id: id, ...facts });
    } else if (next.kind === 'removed') {
      this.routers.delete(`r${next.router}`);
      tell('router.removed', { router_id: `r${next.router}`, identity: 'x' });
    } else {
      const job = { id: `j${next.job}`, router_id: 'r0', description: 'x', since: this.jobs.get(`j${next.job}`)?.since ?? at };
      if (next.status === 'running') this.jobs.set(job.id, job);
      else this.jobs.delete(job.id);
      tell(`job.${next.status}` as StreamEvent['type'], { job_id: job.id, router_id: 'r0', status: next.status, description: 'x' });
    }
  }
}

test('whoever reads the lists and then follows the stream from any earlier position ends with the state of the server', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), fc.nat(60), fc.nat(60), (changes, readAt, position) => {
      const server = new Server();
      for (const next of changes.slice(0, readAt)) server.do(next);
      const model = new FleetModel({ overview, at: 0, routers: [...server.routers.values()], jobs: [...server.jobs.values()] });
      const from = Math.min(position, server.events.length);
      for (const next of changes.slice(readAt)) server.do(next);
      for (const event of server.events.slice(from)) model.apply(event);
      const states = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
      for (const { state } of server.routers.values()) states[state!] += 1;
      expect(model.states).toEqual(states);
      const down = [...server.routers.values()].filter(({ state }) => state === 'not_answering' || state === 'agent_away');
      expect(model.down.map(({ id }) => id).toSorted()).toEqual(down.map(({ id }) => id).toSorted());
      expect(model.runningJobs.map(({ id }) => id).toSorted()).toEqual([...server.jobs.keys()].toSorted());
    }),
  );
});

test('the list of events is bounded, and an event without the expected fields harms nothing', () => {
  const model = new FleetModel({ overview, at: 0, routers: [], jobs: [] });
  for (let index = 0; index < 500; index += 1) model.apply({ id: 'x', type: 'router.changed', data: { router_id: index, state: {} } });
  expect(model.feed).toHaveLength(200);
  expect(model.states).toEqual({ answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 });
});

test.each(['resync', 'router.moved', 'router.replaced'] as const)('after %s the lists are read again', (type) => {
  const model = new FleetModel({ overview, at: 0, routers: [], jobs: [] });
  model.apply({ id: 'x', type, data: {} });
  expect([model.mustReadAgain, model.isOverviewOld]).toEqual([true, true]);
});

test('a router is called by its new name as soon as an event tells it', () => {
  const model = new FleetModel({ overview, at: 0, routers: [], jobs: [] });
  const facts = { identity: 'gw', state: 'answering', state_since: new Date(0).toISOString(), state_reason: null, agent_id: 'a' };
  model.apply({ id: '1', type: 'router.changed', data: { router_id: 'r', ...facts } });
  model.apply({ id: '2', type: 'router.updated', data: { router_id: 'r', identity: 'core-1', software_version: '7.20' } });
  model.apply({ id: '3', type: 'router.updated', data: { router_id: 'unknown', identity: 'x' } });
  model.apply({ id: '4', type: 'router.updated', data: { router_id: 'r', site_id: null } });
  expect(model.nameOf('r')).toBe('core-1');
  expect(model.states.answering).toBe(1);
});
