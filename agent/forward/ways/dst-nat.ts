import { isIPv4 } from 'node:net';
import type { Duplex } from 'node:stream';
import { sleep } from '../../core/clock.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { AgentError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Deadline, RouterAdapter, RouterFacts } from '../../routers/adapter.ts';
import { CLEAN_UP_DEADLINE } from '../clean-up.ts';
import type { NatPort, NatPorts } from '../nat-ports.ts';
import { armFailSafe, disarmFailSafe, isArmed, isSameEnd, natUndoing } from '../fail-safe.ts';
import type { FailSafe } from '../fail-safe.ts';
import { addRules, cutConnections, findMarked, removeRules } from '../nat-rules.ts';
import type { MarkedRule, NatRules } from '../nat-rules.ts';
import { sourceAddress } from '../source-address.ts';
import { connectTcp, connectedTcp } from '../tcp.ts';
import type { Target, Way } from '../types.ts';

export interface DstNatWayOptions {
  router: RouterAdapter;
  target: Target;
  mark: string;
  /** Time after which the router removes the rules by itself. */
  expiresInMs: number;
  natPorts: NatPorts;
  clock: Clock;
  log: Log;
  /** Something may be left on the router: it must be searched later. */
  onLeftBehind: () => void;
  /** The rules are gone and cannot be restored. */
  onLost: (reason: string) => void;
}

/**
 * Uptimes, in seconds, at which the rules are checked after a reboot. The entry that removes them runs 3 s after the boot and would
 * also remove new ones that were added before; slow boards count the uptime from an earlier moment.
 */
const SETTLED_UPTIMES = [10, 60];

/** Shortest interval of checks after a refused connection: only the router knows whether the rules still exist. */
const CHECK_EVERY_MS = 10_000;

/**
 * A dst-nat rule leads one port of the router, for this agent's address only, to the target. Missing or invalid rules are written
 * again. Rules that a user disabled stay: the way is lost, and the forward is refused this way until they are enabled or removed,
 * or until its time is over, when the router removes them.
 */
export class DstNatWay implements Way {
  readonly name = 'api';
  failSafe: FailSafe;
  readonly #options: DstNatWayOptions;
  readonly #rules: NatRules;
  readonly #natPort: NatPort;
  /** By `sinceBoot`, because the router's time continues while the agent's machine is suspended. */
  #endsAt: number;
  /** The end that the router's fail-safe was armed for. */
  #armedUntil: number;
  readonly #unsubscribe: () => void;
  /** Hardware id of the device with the rules. */
  readonly #hardwareId: string | undefined;
  #wasReachable = true;
  #checks: Timer[] = [];
  #checkedAt = Number.NEGATIVE_INFINITY;
  #closed = false;
  #isDisabled = false;
  #working: Promise<void> = Promise.resolve();

  private constructor(options: DstNatWayOptions, rules: NatRules, natPort: NatPort, failSafe: FailSafe, endsAt: number) {
    this.#options = options;
    this.#rules = rules;
    this.#natPort = natPort;
    this.failSafe = failSafe;
    this.#endsAt = endsAt;
    this.#armedUntil = endsAt;
    this.#hardwareId = options.router.state().facts?.hardwareId;
    this.#unsubscribe = options.router.onState((state) => {
      if (state.reachable && !this.#wasReachable) this.#checkSoon(state.facts);
      this.#wasReachable = state.reachable;
    });
    const { facts } = options.router.state();
    if (facts && (facts.uptimeSeconds ?? 0) < SETTLED_UPTIMES.at(-1)!) this.#checkSoon(facts);
  }

  /** @throws AgentError; then nothing is left on the router, or leftovers are searched later */
  static async open(options: DstNatWayOptions, deadline: Deadline): Promise<DstNatWay> {
    const { router, target, mark, expiresInMs, natPorts, clock } = options;
    if (!isIPv4(target.host)) throw new AgentError('unsupported', 'the dst-nat way leads to IPv4 addresses only');
    const endsAt = clock.sinceBoot() + expiresInMs;
    await waitForBoot(options, deadline);
    if (isDisabled(await marked(router, mark, deadline))) throw new AgentError('rejected', DISABLED);
    const source = await sourceAddress(router, deadline);
    const natPort = await natPorts.take(router, deadline);
    const rules = { mark, source, target, natPort: natPort.number };
    try {
      const failSafe = await write(options, rules, deadline);
      return new DstNatWay(options, rules, natPort, failSafe, endsAt);
    } catch (error) {
      natPort.giveBack();
      throw error;
    }
  }

  /** The address and port on the router that lead to the target. */
  get entry(): Target {
    return { host: this.#options.router.host, port: this.#rules.natPort };
  }

  connect(deadline: Deadline): Promise<Duplex> {
    return connectedTcp(this.entry, deadline);
  }

  connectNow(deadline: Deadline): Duplex {
    const socket = connectTcp(this.entry, deadline);
    // Without the rules the router itself refuses the connection; a closed target port looks the same.
    socket.once('error', () => {
      if (socket.bytesRead === 0) this.#suspect();
    });
    return socket;
  }

  async renew(expiresInMs: number, deadline: Deadline): Promise<void> {
    this.#endsAt = this.#options.clock.sinceBoot() + expiresInMs;
    const renewed = this.#working.then(() => this.#rearm(deadline));
    this.#working = renewed.catch(() => undefined);
    await renewed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    for (const check of this.#checks) check.cancel();
    const { router, mark, log, onLeftBehind } = this.#options;
    await this.#working;
    try {
      if (this.#isDisabled) onLeftBehind();
      else await undo(router, mark);
      await cutConnections(router, this.#rules, CLEAN_UP_DEADLINE);
    } catch (error) {
      // The agent searches the router until it succeeds; the router's fail-safe removes them at the latest.
      onLeftBehind();
      log.warn({ err: error, router: router.name, mark }, 'the rules of a forward could not be removed from the router yet');
    }
    this.#natPort.giveBack();
  }

  /** Checks the rules after the router was unreachable, perhaps for a reboot. */
  #checkSoon(facts: RouterFacts | null): void {
    for (const check of this.#checks) check.cancel();
    const waits = SETTLED_UPTIMES.map((seconds) => Math.max(0, seconds - (facts?.uptimeSeconds ?? 0)) * 1000);
    this.#checks = [...new Set(waits)].map((ms) => this.#options.clock.setTimeout(() => this.#renew(), ms));
  }

  #suspect(): void {
    if (performance.now() - this.#checkedAt < CHECK_EVERY_MS) return;
    this.#checkedAt = performance.now();
    this.#renew();
  }

  #renew(): void {
    this.#working = this.#working
      .then(() => this.#restore())
      .catch((error: unknown) => {
        const { log, router, onLost } = this.#options;
        log.warn({ err: error, router: router.name }, 'the rules of a forward could not be renewed');
        // An unreachable router is checked again when it is back.
        if (!this.#closed && router.state().reachable)
          onLost(`the rules are gone from the router: ${error instanceof Error ? error.message : 'unknown error'}`);
      });
  }

  async #restore(): Promise<void> {
    const { router, mark, clock, onLost } = this.#options;
    const deadline = CLEAN_UP_DEADLINE;
    const left = Math.ceil((this.#endsAt - clock.sinceBoot()) / 1000);
    // Another device under the same name must not get the rules.
    if (this.#closed || left <= 0 || router.state().facts?.hardwareId !== this.#hardwareId) return;
    const rules = await marked(router, mark, deadline);
    this.#isDisabled = isDisabled(rules);
    if (this.#isDisabled) return onLost(DISABLED);
    if (rules.filter(({ invalid }) => !invalid).length >= 2 && (await isArmed(router, mark, this.failSafe, deadline)))
      return this.#rearm(deadline);
    const endsAt = this.#endsAt;
    this.failSafe = await replace(router, this.#rules, left, deadline);
    this.#armedUntil = endsAt;
  }

  /** The router's fail-safe follows the end of the forward; the rules stay. @throws AgentError; it is then tried again later */
  async #rearm(deadline: Deadline): Promise<void> {
    const { router, clock } = this.#options;
    const endsAt = this.#endsAt;
    if (this.#closed || isSameEnd(endsAt, this.#armedUntil)) return;
    if (router.state().facts?.hardwareId !== this.#hardwareId) {
      throw new AgentError('wrong_router', `another device answers at ${router.name}`);
    }
    const seconds = Math.ceil((endsAt - clock.sinceBoot()) / 1000);
    this.failSafe = await armFailSafe(router, natUndoing(this.#rules), seconds, deadline);
    this.#armedUntil = endsAt;
  }
}

const DISABLED = 'the rules were disabled on the router';

function marked(router: RouterAdapter, mark: string, deadline: Deadline): Promise<MarkedRule[]> {
  return findMarked(router, (comment) => comment === mark, deadline);
}

function isDisabled(rules: readonly MarkedRule[]): boolean {
  return rules.some(({ disabled }) => disabled);
}

/** @throws AgentError; then nothing is left on the router, or leftovers are searched later */
async function write(options: DstNatWayOptions, rules: NatRules, deadline: Deadline): Promise<FailSafe> {
  const { router, mark, expiresInMs, onLeftBehind, log } = options;
  try {
    return await replace(router, rules, Math.ceil(expiresInMs / 1000), deadline);
  } catch (error) {
    // An unconfirmed rule may still appear, or may not be removable now.
    onLeftBehind();
    await undo(router, mark).catch((failure: unknown) => {
      log.warn({ err: failure, router: router.name, mark }, 'a forward that was not opened could not be undone on the router yet');
    });
    throw error;
  }
}

/** Replaces everything with the same mark. Arms the fail-safe first, so that the rules can never stay for ever. */
async function replace(router: RouterAdapter, rules: NatRules, seconds: number, deadline: Deadline): Promise<FailSafe> {
  await removeRules(router, rules.mark, deadline);
  const failSafe = await armFailSafe(router, natUndoing(rules), seconds, deadline);
  await addRules(router, rules, deadline);
  return failSafe;
}

/** Rules first: the fail-safe stays as long as a rule exists. */
async function undo(router: RouterAdapter, mark: string): Promise<void> {
  await removeRules(router, mark, CLEAN_UP_DEADLINE);
  await disarmFailSafe(router, mark, CLEAN_UP_DEADLINE);
}

/** Waits until a router that has just booted has run its startup entries: new entries would run with them. */
async function waitForBoot({ router, clock }: DstNatWayOptions, deadline: Deadline): Promise<void> {
  const settled = SETTLED_UPTIMES[0]!;
  if ((router.state().facts?.uptimeSeconds ?? 0) >= settled) return;
  // The known uptime may be old.
  const uptimeSeconds = (await router.refresh(deadline)).uptimeSeconds ?? 0;
  if (uptimeSeconds >= settled) return;
  await sleep(clock, Math.min((settled - uptimeSeconds) * 1000, deadline.timeoutMs), deadline.signal ?? new AbortController().signal);
}
