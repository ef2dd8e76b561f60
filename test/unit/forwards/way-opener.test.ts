import { expect, test } from 'vitest';
import type { AgentGateway } from '../../../server/platform/core/agent-gateway.ts';
import { AppError } from '../../../server/platform/core/errors.ts';
import { FORWARD_LIMITS } from '../../../server/work/forwards/limits.ts';
import { LiveForward } from '../../../server/work/forwards/live-forward.ts';
import type { ForwardRecord } from '../../../server/work/forwards/types.ts';
import { WayOpener } from '../../../server/work/forwards/way-opener.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

/** An opener whose agent can be reached, and answers `forward.open` as `onOpen` says, which may take `timeoutMs`. */
function setUp(onOpen: (timeoutMs: number) => Promise<never>) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const reopened: LiveForward[] = [];
  const gateway: Pick<AgentGateway, 'epoch' | 'request'> = {
    epoch: () => 7,
    request: async (_agentId, method, _params, { timeoutMs }) => {
      asked.push(method);
      return (method === 'forward.open' ? await onOpen(timeoutMs) : {}) as never;
    },
  };
  const opener = new WayOpener({
    // What is stored is shown by the tests of the store.
    storage: { writes: { write: async () => undefined } } as unknown as Storage,
    routers: { getRouter: async () => ({ agent_id: 'agent', agent_router: 'gw', hardware_id: 'H' }) as never },
    gateway: gateway as AgentGateway,
    clock,
    log: silentLog,
    limits: FORWARD_LIMITS,
    changes: { publish: () => undefined },
    reopen: (live) => void reopened.push(live),
  });
  const live = new LiveForward({
    id: 'f',
    teamId: 't',
    routerId: 'r',
    terms: { allowOnlyCidr: '198.51.100.7/32', setAt: clock.now(), expiresAt: clock.now() + 86_400_000 },
    maxConnections: 9,
    idleMs: null,
    clock,
    limits: FORWARD_LIMITS,
    dial: () => true,
    onAgentChanged: () => undefined,
    onConnectionClosed: () => undefined,
    onRefused: () => undefined,
    onExpired: () => undefined,
  });
  const record = { dst_address: '192.168.88.10', dst_port: 443, renewed_at: null } as ForwardRecord;
  return { opener, clock, asked, reopened, live, open: () => opener.open(live, record) };
}

const unreachable = async (): Promise<never> => {
  throw new AppError('router_unreachable', 'the router does not answer');
};

test('two openings at once that fail are repeated once', async () => {
  const { clock, reopened, open } = setUp(unreachable);
  await Promise.all([open(), open()]);
  clock.advance(FORWARD_LIMITS.retryMs);
  expect(reopened).toHaveLength(1);
});

test('a router that needs a minute for the commands of an opening is given it: an attempt that is cut short begins anew', async () => {
  const { clock, reopened, open } = setUp(async (timeoutMs) => {
    if (timeoutMs <= 60_000) throw new AppError('outcome_unknown', 'no answer in time');
    return { way: 'ssh', way_reason: 'the router forwards over SSH', target_reachable: true } as never;
  });
  await open();
  clock.advance(FORWARD_LIMITS.retryMs);
  expect(reopened).toEqual([]);
});

test('a forward that is over is not asked for', async () => {
  const { asked, live, open } = setUp(unreachable);
  await live.end('revoked');
  await open();
  expect(asked).toEqual([]);
});

test('one that was revoked while the agent did not answer is closed there, and not asked for again', async () => {
  const { asked, clock, reopened, live, open } = setUp(async () => {
    await live.end('revoked');
    throw new AppError('outcome_unknown', 'no answer in time');
  });
  await open();
  expect(asked).toEqual(['forward.open', 'forward.close']);
  clock.advance(FORWARD_LIMITS.retryMs);
  expect(reopened).toEqual([]);
});
