import { mayHaveOneMore } from '../../runtime/fair-shares.ts';
import type { Clock } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { findRouter } from '../core/routers.ts';
import type { Routers } from '../core/routers.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { markOf, readAgentTag } from './agent-tag.ts';
import { AllowList } from './allowlist.ts';
import { chooseWay } from './choose-way.ts';
import { NatPorts } from './nat-ports.ts';
import { ForwardingMemory } from './forwarding-memory.ts';
import { LeftoverSearch } from './leftover-search.ts';
import { OpenForward } from './open-forward.ts';
import { SshForwarding } from './ssh-forwarding.ts';
import type { ChannelEnd, DialChannel, ForwardOpenParams, OpenedForward } from './types.ts';

export interface AgentForwardsOptions {
  routers: Routers;
  dialChannel: DialChannel;
  /** Why channels are not dialled to this address of a control plane; undefined when they are. */
  channelRefusal: (url: string) => string | undefined;
  /** `forwards` of the configuration. */
  allow: readonly string[];
  maxConnections: number;
  /** An open forward lost its way and is closed; the control plane may request it again. */
  onLost: (forwardId: string, reason: string) => void;
  /** Folder for the router settings that must be restored. */
  stateFolder: string;
  clock: Clock;
  log: Log;
}

/** Limit of open forwards of one agent, for all routers together. */
const MAX_FORWARDS = 2000;

/** The agent's side of forwards: handles `forward.open`, `forward.close` and `channel.dial`. */
export class AgentForwards {
  readonly #options: AgentForwardsOptions;
  readonly #allow: AllowList;
  readonly #sshForwarding: SshForwarding;
  readonly #natPorts = new NatPorts();
  /** Open and opening forwards; a forward that could not be opened is removed. */
  readonly #forwards = new Map<string, Promise<OpenForward>>();
  readonly #ready = new Map<string, OpenForward>();
  /** Forwards being closed: a forward that is opened again uses the same mark for its rules, so it waits. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #subscriptions: (() => void)[] = [];
  readonly #tasks = new Set<Promise<void>>();
  readonly #leftovers: LeftoverSearch;
  #agentTag: Promise<string> | undefined;
  #closed = false;

  constructor(options: AgentForwardsOptions) {
    this.#options = options;
    this.#allow = new AllowList(options.allow);
    this.#sshForwarding = new SshForwarding({
      memory: new ForwardingMemory(options.stateFolder),
      log: options.log,
      clock: options.clock,
      agentTag: () => this.#tag(),
    });
    this.#leftovers = new LeftoverSearch({
      agentTag: () => this.#tag(),
      isOpen: (forwardId) => this.#forwards.has(forwardId),
      clock: options.clock,
      log: options.log,
    });
  }

  /** Cleans up what an earlier run left on the routers, now or as soon as they are reachable. */
  start(): void {
    for (const router of this.#options.routers.values()) {
      const cleanUp = async (): Promise<void> => {
        await this.#sshForwarding.restore(router);
        await this.#leftovers.search(router);
      };
      const onStateChange = (): void => {
        this.#checkDevice(router);
        this.#leftovers.seen(router);
        if (router.state().reachable) this.#track(cleanUp());
      };
      this.#subscriptions.push(router.onState(onStateChange));
      onStateChange();
    }
  }

  /**
   * Opens a forward, or renews the terms of one that is open.
   * @throws AgentError `not_allowed` by the agent's own list, `router_unreachable`, `wrong_router`, `unsupported`, …
   */
  async open(params: ForwardOpenParams, deadline: Deadline): Promise<OpenedForward> {
    const refusal = this.#allow.refusal(params.dst_address);
    if (refusal !== undefined) throw new AgentError('not_allowed', refusal);
    const { clock, channelRefusal } = this.#options;
    const unusable = params.channel_url === undefined ? undefined : channelRefusal(params.channel_url);
    if (unusable !== undefined) throw new AgentError('not_allowed', unusable);
    const endsAt = clock.sinceBoot() + params.expires_in_ms;
    const forward = await this.#opened(params, endsAt, deadline);
    const checkOpen = (): void => {
      if (this.#ready.get(params.forward_id) !== forward) throw new AgentError('internal', 'the forward was closed meanwhile');
    };
    checkOpen();
    // The agent's own end first: the former one could come while the router is asked.
    const { channel_token: token, channel_url: url, max_channels: maxChannels, warm_channels: warmChannels } = params;
    forward.renew({ token, url, maxChannels, endsAt, warmChannels });
    await forward.way.renew(Math.max(0, endsAt - clock.sinceBoot()), deadline);
    checkOpen();
    return forward.opened;
  }

  /** Ends a forward and removes its leftovers from reachable routers, also if it is not open. Never rejects. */
  async close(forwardId: string, reason = 'revoked'): Promise<void> {
    const opening = this.#forwards.get(forwardId);
    if (!opening) return this.#closing.get(forwardId) ?? this.#leftovers.searchNow(forwardId);
    this.#forwards.delete(forwardId);
    this.#ready.delete(forwardId);
    const closing = (this.#closing.get(forwardId) ?? Promise.resolve())
      .then(() =>
        opening.then(
          (forward) => forward.close(reason),
          () => this.#leftovers.searchNow(forwardId),
        ),
      )
      .finally(() => {
        if (this.#closing.get(forwardId) === closing) this.#closing.delete(forwardId);
      });
    this.#closing.set(forwardId, closing);
    return closing;
  }

  /** Ends all forwards and removes them from the routers, because the agent was revoked. */
  closeAll(reason: string): void {
    for (const id of this.#forwards.keys()) this.#track(this.close(id, reason));
  }

  /** Dials more channels. No effect for a forward that is not open. @param to the control plane that wants them, if not the usual one */
  dial(forwardId: string, count: number, to?: ChannelEnd): void {
    this.#ready.get(forwardId)?.dial(count, to);
  }

  /** Ends all forwards and restores the routers. */
  async stop(): Promise<void> {
    this.#closed = true;
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
    await Promise.all([...this.#forwards.keys()].map((id) => this.close(id, 'the agent is stopping')));
    await this.#leftovers.stop();
    await Promise.all(this.#tasks);
  }

  async #opened(params: ForwardOpenParams, endsAt: number, deadline: Deadline): Promise<OpenForward> {
    const before = this.#forwards.get(params.forward_id);
    if (!before) return this.#start(params, endsAt, deadline);
    // An earlier request may have failed because its tunnel broke, so a failure does not count for this one.
    const joined = await before.catch(() => undefined);
    return joined ?? this.#forwards.get(params.forward_id) ?? this.#start(params, endsAt, deadline);
  }

  #start(params: ForwardOpenParams, endsAt: number, deadline: Deadline): Promise<OpenForward> {
    if (this.#closed) throw new AgentError('internal', 'the agent is stopping');
    if (this.#forwards.size >= MAX_FORWARDS) throw new AgentError('not_allowed', `the agent has ${MAX_FORWARDS} forwards open`);
    const opening = this.#openWay(params, endsAt, deadline);
    this.#forwards.set(params.forward_id, opening);
    opening.then(
      (forward) => {
        if (this.#forwards.get(params.forward_id) === opening) this.#ready.set(params.forward_id, forward);
      },
      () => {
        if (this.#forwards.get(params.forward_id) === opening) this.#forwards.delete(params.forward_id);
      },
    );
    return opening;
  }

  async #openWay(params: ForwardOpenParams, endsAt: number, deadline: Deadline): Promise<OpenForward> {
    const { routers, dialChannel, clock, log } = this.#options;
    await this.#closing.get(params.forward_id);
    const router = findRouter(routers, params.router, params.hardware_id);
    const target = { host: params.dst_address, port: params.dst_port };
    const mark = markOf(await this.#tag(), params.forward_id);
    const wayDeps = {
      sshForwarding: this.#sshForwarding,
      allow: this.#allow,
      natPorts: this.#natPorts,
      clock,
      log,
      mark,
      expiresInMs: Math.max(0, endsAt - clock.sinceBoot()),
      onLeftBehind: () => this.#leftovers.suspect(router),
      onLost: (reason: string) => this.#lost(params.forward_id, reason),
    };
    const chosen = await chooseWay(router, target, wayDeps, deadline);
    return new OpenForward({
      id: params.forward_id,
      router: router.name,
      hardwareId: params.hardware_id,
      way: chosen.way,
      opened: { way: chosen.way.name, way_reason: chosen.reason, target_reachable: chosen.targetReachable, renewed: true },
      dialChannel,
      clock,
      log,
      // Checked for every connection: the target may have become an address of this machine.
      refusal: () => (this.#mayConnect(router.name) ? this.#allow.refusal(params.dst_address) : 'the agent has too many connections'),
      onExpired: () => this.#track(this.close(params.forward_id, 'expired')),
    });
  }

  /** A forward belongs to one device: another device under the same name may be in another network. */
  #checkDevice(router: RouterAdapter): void {
    const { facts } = router.state();
    for (const forward of this.#ready.values()) {
      if (forward.router !== router.name || !facts || facts.hardwareId === forward.hardwareId) continue;
      this.#lost(forward.id, `another device (${facts.hardwareId}) answers at ${router.name}`);
    }
  }

  /** Closes a forward whose way is lost, then reports it. A forward that is still being opened reports its own failure. */
  #lost(forwardId: string, reason: string): void {
    if (!this.#ready.has(forwardId)) return;
    this.#options.log.warn({ forward_id: forwardId, reason }, 'the way of a forward is lost');
    this.#track(this.close(forwardId, 'lost').then(() => this.#options.onLost(forwardId, reason)));
  }

  /** Reads the tag once; every forward of this agent needs it. */
  #tag(): Promise<string> {
    this.#agentTag ??= readAgentTag(this.#options.stateFolder).catch((error: unknown) => {
      // Tried again later: a full disk may have space again.
      this.#agentTag = undefined;
      throw error;
    });
    return this.#agentTag;
  }

  /** With several routers, the forwards of one router may not have more connections than are left for the others. */
  #mayConnect(router: string): boolean {
    const { maxConnections, routers } = this.#options;
    let all = 0;
    let held = 0;
    for (const forward of this.#ready.values()) {
      all += forward.connectionCount;
      if (forward.router === router) held += forward.connectionCount;
    }
    const left = maxConnections - all;
    return routers.size > 1 ? mayHaveOneMore({ held, left }) : left > 0;
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }
}
