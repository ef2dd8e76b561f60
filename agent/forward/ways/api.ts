import { isIPv4 } from 'node:net';
import type { Duplex } from 'node:stream';
import { sleep } from '../../core/clock.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { AgentError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Deadline, RouterAdapter, RouterFacts } from '../../routers/adapter.ts';
import { CLEAN_UP_DEADLINE } from '../clean-up.ts';
import type { EntryPort, EntryPorts } from '../entry-ports.ts';
import { armFailSafe, disarmFailSafe, isArmed, natUndoing } from '../fail-safe.ts';
import type { FailSafe } from '../fail-safe.ts';
import { addRules, cutConnections, findMarked, removeRules } from '../nat-rules.ts';
import type { MarkedRule, NatRules } from '../nat-rules.ts';
import { sourceAddress } from '../source-address.ts';
import { connectTcp, connectedTcp } from '../tcp.ts';
import type { Target, Way } from '../types.ts';

export interface ApiWayOptions {
  router: RouterAdapter;
  target: Target;
  mark: string;
  /** Until the router removes the rules by itself, whatever else happens. */
  expiresInMs: number;
  entryPorts: EntryPorts;
  clock: Clock;
  log: Log;
  /** Something may be left on the router that has to be searched for later. */
  onLeftBehind: () => void;
  /** The rules are gone and cannot be had again. */
  onLost: (reason: string) => void;
}

/**
 * Uptimes, in seconds, at which the rules are looked at after a reboot. The entry that takes them away runs 3 s after the
 * start, and new ones that came before it would go as well; slow boards count from an earlier moment.
 */
const SETTLED_UPTIMES = [10, 60];

/** A target that refuses is looked at no more often than this: only the router knows whether the rules are still there. */
const CHECK_EVERY_MS = 10_000;

/**
 * A dst-nat rule on the router leads one of its ports, for this agent's address only, to the target. Rules that are gone or
 * invalid are written again. Rules that are disabled are somebody's will: the way is lost and they stay as they are, and so
 * the forward is refused this way until they are enabled or removed, or its time is over, when the router removes them.
 */
export class ApiWay implements Way {
  readonly name = 'api';
  readonly failSafe: FailSafe;
  readonly #options: ApiWayOptions;
  readonly #rules: NatRules;
  readonly #entryPort: EntryPort;
  /** Milliseconds since the agent's machine started: while that is suspended the router goes on counting. */
  readonly #endsAt: number;
  readonly #unsubscribe: () => void;
  /** The device that has the rules. */
  readonly #hardwareId: string | undefined;
  #wasReachable = true;
  #checks: Timer[] = [];
  #checkedAt = Number.NEGATIVE_INFINITY;
  #closed = false;
  #isDisabled = false;
  #working: Promise<void> = Promise.resolve();

  private constructor(options: ApiWayOptions, rules: NatRules, entryPort: EntryPort, failSafe: FailSafe, endsAt: number) {
    this.#options = options;
    this.#rules = rules;
    this.#entryPort = entryPort;
    this.failSafe = failSafe;
    this.#endsAt = endsAt;
    this.#hardwareId = options.router.state().facts?.hardwareId;
    this.#unsubscribe = options.router.onState((state) => {
      if (state.reachable && !this.#wasReachable) this.#checkSoon(state.facts);
      this.#wasReachable = state.reachable;
    });
    const { facts } = options.router.state();
    if (facts && (facts.uptimeSeconds ?? 0) < SETTLED_UPTIMES.at(-1)!) this.#checkSoon(facts);
  }

  /** @throws AgentError; then nothing is left on the router, or it is searched for later. */
  static async open(options: ApiWayOptions, deadline: Deadline): Promise<ApiWay> {
    const { router, target, mark, expiresInMs, entryPorts, clock } = options;
    if (!isIPv4(target.host)) throw new AgentError('unsupported', 'the dst-nat way leads to IPv4 addresses only');
    const endsAt = clock.sinceBoot() + expiresInMs;
    await waitForBoot(options, deadline);
    if (isDisabled(await marked(router, mark, deadline))) throw new AgentError('rejected', DISABLED);
    const source = await sourceAddress(router, deadline);
    const entryPort = await entryPorts.take(router, deadline);
    const rules = { mark, source, target, entryPort: entryPort.number };
    try {
      const failSafe = await write(options, rules, deadline);
      return new ApiWay(options, rules, entryPort, failSafe, endsAt);
    } catch (error) {
      entryPort.giveBack();
      throw error;
    }
  }

  /** Where connections to the target enter. */
  get entry(): Target {
    return { host: this.#options.router.host, port: this.#rules.entryPort };
  }

  connect(deadline: Deadline): Promise<Duplex> {
    return connectedTcp(this.entry, deadline);
  }

  connectNow(deadline: Deadline): Duplex {
    const socket = connectTcp(this.entry, deadline);
    // Without the rules the router itself refuses, and so does a target that is not there.
    socket.once('error', () => {
      if (socket.bytesRead === 0) this.#suspect();
    });
    return socket;
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
      // The agent searches the router soon and until it could; the router's own entry does it at the end of the time.
      onLeftBehind();
      log.warn({ err: error, router: router.name, mark }, 'the rules of a forward could not be removed from the router yet');
    }
    this.#entryPort.giveBack();
  }

  /** The router was away, perhaps for a reboot. */
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
        // A router that is away once more gets them when it is back.
        if (!this.#closed && router.state().reachable)
          onLost(`the rules are gone from the router: ${error instanceof Error ? error.message : 'unknown error'}`);
      });
  }

  async #restore(): Promise<void> {
    const { router, mark, clock, onLost } = this.#options;
    const deadline = CLEAN_UP_DEADLINE;
    const left = Math.ceil((this.#endsAt - clock.sinceBoot()) / 1000);
    // Another device has nothing to do with it.
    if (this.#closed || left <= 0 || router.state().facts?.hardwareId !== this.#hardwareId) return;
    const rules = await marked(router, mark, deadline);
    this.#isDisabled = isDisabled(rules);
    if (this.#isDisabled) return onLost(DISABLED);
    if (rules.filter(({ invalid }) => !invalid).length >= 2 && (await isArmed(router, mark, this.failSafe, deadline))) return;
    await replace(router, this.#rules, left, deadline);
  }
}

const DISABLED = 'the rules were disabled on the router';

function marked(router: RouterAdapter, mark: string, deadline: Deadline): Promise<MarkedRule[]> {
  return findMarked(router, (comment) => comment === mark, deadline);
}

function isDisabled(rules: readonly MarkedRule[]): boolean {
  return rules.some(({ disabled }) => disabled);
}

/** @throws AgentError; then nothing is left on the router, or it is searched for. */
async function write(options: ApiWayOptions, rules: NatRules, deadline: Deadline): Promise<FailSafe> {
  const { router, mark, expiresInMs, onLeftBehind, log } = options;
  try {
    return await replace(router, rules, Math.ceil(expiresInMs / 1000), deadline);
  } catch (error) {
    // What the router did not confirm may come after all, or cannot be removed now.
    onLeftBehind();
    await undo(router, mark).catch((failure: unknown) => {
      log.warn({ err: failure, router: router.name, mark }, 'a forward that was not opened could not be undone on the router yet');
    });
    throw error;
  }
}

/** Instead of what bears the mark by now. The removal comes first, so that the rules can at no moment stay for ever. */
async function replace(router: RouterAdapter, rules: NatRules, seconds: number, deadline: Deadline): Promise<FailSafe> {
  await removeRules(router, rules.mark, deadline);
  const failSafe = await armFailSafe(router, natUndoing(rules), seconds, deadline);
  await addRules(router, rules, deadline);
  return failSafe;
}

/** Rules first: as long as one is there, the router's own removal stays too. */
async function undo(router: RouterAdapter, mark: string): Promise<void> {
  await removeRules(router, mark, CLEAN_UP_DEADLINE);
  await disarmFailSafe(router, mark, CLEAN_UP_DEADLINE);
}

/** Waits until a router that has just started has run what it runs at its start: new entries would run with it. */
async function waitForBoot({ router, clock }: ApiWayOptions, deadline: Deadline): Promise<void> {
  const settled = SETTLED_UPTIMES[0]!;
  if ((router.state().facts?.uptimeSeconds ?? 0) >= settled) return;
  // What is known may be old.
  const uptimeSeconds = (await router.refresh(deadline)).uptimeSeconds ?? 0;
  if (uptimeSeconds >= settled) return;
  await sleep(clock, Math.min((settled - uptimeSeconds) * 1000, deadline.timeoutMs), deadline.signal ?? new AbortController().signal);
}
