import { createCommandHandler } from './commands/handler.ts';
import type { AgentConfig } from './config.ts';
import { systemClock } from './core/clock.ts';
import type { Clock } from './core/clock.ts';
import { readNamedFile } from './core/file-errors.ts';
import type { Log } from './core/log.ts';
import type { Routers } from './core/routers.ts';
import { prepareStateFolder } from './core/state-folder.ts';
import { AgentForwards } from './forward/agent-forwards.ts';
import { createCollector } from './telemetry/collector.ts';
import type { Collector } from './telemetry/collector.ts';
import { createBackupHandlers, openJobRunner } from './jobs/index.ts';
import type { JobRunner } from './jobs/index.ts';
import { readCredentials } from './link/credentials.ts';
import { Dialer } from './link/dialer.ts';
import { AgentLink } from './link/link.ts';
import type { LinkHost } from './link/types.ts';
import type { RouterAdapter, RouterState } from './routers/adapter.ts';
import { createRouterAdapter } from './routers/router.ts';
import { AgentTerminals } from './terminals/agent-terminals.ts';
import { toHeartbeat, toInventory } from './tunnel-messages.ts';
import { AGENT_VERSION } from './version.ts';

export interface AgentDeps {
  log: Log;
  clock?: Clock;
  /** 0 <= x < 1; spreads reconnects. */
  random?: () => number;
  /** How often to read the health and devices of each router, in milliseconds. Default: a minute. */
  readEveryMs?: number;
}

export interface RunningAgent {
  /** Waits for running work, then closes every session. Loses no state. */
  close(): Promise<void>;
}

/** How long open requests may still take at shutdown, in milliseconds. */
const STOP_MS = 5000;

const LONG_MS = 3_600_000;

/** Builds the whole agent and starts it. @throws AgentError for unusable credentials, state folder or journal */
export async function startAgent(config: AgentConfig, deps: AgentDeps): Promise<RunningAgent> {
  const { log, clock = systemClock, random = Math.random, readEveryMs: everyMs } = deps;
  await prepareStateFolder(config.state);
  const credentials = await readCredentials(config.credentials);
  const ca = config.server_ca === undefined ? undefined : await readNamedFile('server_ca', config.server_ca);
  const dialer = new Dialer({ server: config.server, agentId: credentials.agent_id, secret: credentials.secret, ca });
  const routers: Routers = new Map(
    config.routers.map((router) => [router.name, createRouterAdapter(router, { stateFolder: config.state, log, clock, random })]),
  );
  // The link and the features refer to each other. Both exist before anything runs.
  const send: AgentLink['send'] = (message) => link.send(message);
  const closeRouters = async (): Promise<void> => {
    await Promise.all([...routers.values()].map((router) => router.close()));
  };
  const jobs = await openJobRunner({
    routers,
    stateFolder: config.state,
    send,
    isAlive: (deadline) => link.isAlive(deadline),
    clock,
    log,
  }).catch(async (error: unknown) => {
    // Open router sessions would keep the process alive, and a supervisor would not restart it.
    await closeRouters();
    throw error;
  });
  const forwards = new AgentForwards({
    routers,
    dialChannel: (token, attach, options) => dialer.dialChannel(token, attach, options),
    channelRefusal: (url) => dialer.channelRefusal(url),
    allow: config.forwards.allow,
    maxConnections: config.forwards.max_connections,
    onLost: (forwardId, reason) => void send({ type: 'forward.lost', forward_id: forwardId, reason: reason.slice(0, 300) }),
    stateFolder: config.state,
    clock,
    log,
  });
  const terminals = new AgentTerminals({
    routers,
    level: config.terminal,
    dialChannel: (token, attach, options) => dialer.dialChannel(token, attach, options),
    send,
    clock,
    log,
  });
  const collector = createCollector({ routers, send, clock, random, log, everyMs });
  const identify = (router: RouterAdapter): void => sendInventory(router, config.terminal, send);
  const host = linkHost({ routers, jobs, forwards, terminals, collector, identify, clock, log });
  const link = new AgentLink({ dialer, host, clock, random, log });
  const subscriptions = [...routers.values()].map((router) => reportChanges(router, { link, identify, clock }));
  forwards.start();
  collector.start();
  link.start();
  // No other timer keeps the process alive, and without connections there is no socket either.
  const alive = setInterval(() => undefined, LONG_MS);
  return {
    async close() {
      clearInterval(alive);
      for (const unsubscribe of subscriptions) unsubscribe();
      await collector.stop();
      await jobs.stop();
      // While the control plane can be told why they ended.
      await terminals.stop();
      await link.stop(STOP_MS);
      await forwards.stop();
      await closeRouters();
    },
  };
}

interface Features {
  routers: Routers;
  jobs: JobRunner;
  forwards: AgentForwards;
  terminals: AgentTerminals;
  collector: Collector;
  /** Tells the control plane who a router is. */
  identify: (router: RouterAdapter) => void;
  clock: Clock;
  log: Log;
}

function linkHost({ routers, jobs, forwards, terminals, collector, identify, clock, log }: Features): LinkHost {
  return {
    hello: () => ({ agent_version: AGENT_VERSION, journal_id: jobs.journalId, last_epoch: jobs.lastEpoch, routers: [...routers.keys()] }),
    adopt: ({ epoch, reset }) => jobs.adopt(epoch, reset),
    onReady: () => {
      // Not for unreachable routers: their last known facts would look current.
      for (const router of routers.values()) if (router.state().reachable) identify(router);
      collector.onReady();
    },
    onDown: () => collector.onDown(),
    heartbeats: () => [...routers.values()].map((router) => toHeartbeat(router, clock.monotonic())),
    requests: {
      command: createCommandHandler(routers),
      'forward.open': (params, context) => forwards.open(params, context),
      'forward.close': async (params) => {
        await forwards.close(params.forward_id);
        return {};
      },
      'terminal.open': (params, context) => terminals.open(params, context),
      'terminal.close': async (params) => {
        terminals.close(params.terminal_id);
        return {};
      },
      ...createBackupHandlers(routers, (router) => jobs.whenExported(router), clock),
    },
    jobs,
    onChannelDial: (forwardId, count, to) => forwards.dial(forwardId, count, to),
    onRouterWaiting: (router, reason) =>
      log.warn(
        { router, reason },
        'this router belongs to another agent: an administrator can approve its move to this one (GET /api/router-moves)',
      ),
    onTerminalResize: ({ terminal_id: id, cols, rows }) => terminals.resize(id, { cols, rows }),
    onRevoked: () => {
      forwards.closeAll('this agent was revoked');
      terminals.closeAll();
    },
  };
}

/** Reports changes of a router's reachability and identity to the control plane at once. */
function reportChanges(
  router: RouterAdapter,
  { link, identify, clock }: Pick<Features, 'identify' | 'clock'> & { link: AgentLink },
): () => void {
  let before: Pick<RouterState, 'reachable' | 'reasonCode'> | undefined;
  return router.onState((state) => {
    if (state.reachable) identify(router);
    // Why it does not answer may change while it does not.
    const isNews = state.reachable !== before?.reachable || (!state.reachable && state.reasonCode !== before.reasonCode);
    if (isNews) link.sendHeartbeat([toHeartbeat(router, clock.monotonic())]);
    before = state;
  });
}

function sendInventory(router: RouterAdapter, terminal: AgentConfig['terminal'], send: AgentLink['send']): void {
  const { facts } = router.state();
  if (facts) send(toInventory(router, facts, terminal));
}
