import { isIPv4 } from 'node:net';
import type { Duplex } from 'node:stream';
import { AgentError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Deadline, RouterAdapter } from '../../routers/adapter.ts';
import { armFailSafe, disarmFailSafe } from '../fail-safe.ts';
import type { FailSafe } from '../fail-safe.ts';
import { addRules, cutConnections, findMarked, freeEntryPort, removeRules } from '../nat-rules.ts';
import type { NatRules } from '../nat-rules.ts';
import { sourceAddress } from '../source-address.ts';
import { connectTcp, connectedTcp } from '../tcp.ts';
import type { Target, Way } from '../types.ts';

export interface ApiWayOptions {
  router: RouterAdapter;
  target: Target;
  mark: string;
  /** Until the router removes the rules by itself, whatever else happens. */
  expiresInMs: number;
  log: Log;
  /** Something may be left on the router that has to be searched for later. */
  onLeftBehind: () => void;
}

/** Undoing takes a handful of commands. */
const CLOSE_TIMEOUT_MS = 10_000;

/** A dst-nat rule on the router leads one of its ports, for this agent's address only, to the target. */
export class ApiWay implements Way {
  readonly name = 'api';
  readonly failSafe: FailSafe;
  readonly #options: ApiWayOptions;
  readonly #rules: NatRules;
  readonly #endsAt: number;
  readonly #unsubscribe: () => void;
  #wasReachable = true;
  #closed = false;
  #working: Promise<void> = Promise.resolve();

  private constructor(options: ApiWayOptions, rules: NatRules, failSafe: FailSafe, endsAt: number) {
    this.#options = options;
    this.#rules = rules;
    this.failSafe = failSafe;
    this.#endsAt = endsAt;
    this.#unsubscribe = options.router.onState(({ reachable }) => {
      // A reboot takes the rules away by the entry that fires at the start.
      if (reachable && !this.#wasReachable) this.#renew();
      this.#wasReachable = reachable;
    });
  }

  /** Arms the removal first, so that there is no moment in which the rules could stay for ever. @throws AgentError */
  static async open(options: ApiWayOptions, deadline: Deadline): Promise<ApiWay> {
    const { router, target, mark, expiresInMs } = options;
    if (!isIPv4(target.host)) throw new AgentError('unsupported', 'the dst-nat way leads to IPv4 addresses only');
    const endsAt = performance.now() + expiresInMs;
    const source = await sourceAddress(router, deadline);
    const rules = { mark, source, target, entryPort: await freeEntryPort(router, deadline) };
    const failSafe = await armFailSafe(router, mark, Math.ceil(expiresInMs / 1000), deadline);
    try {
      await addRules(router, rules, deadline);
    } catch (error) {
      // A rule may have been added after all, or not been removed again.
      options.onLeftBehind();
      await disarmFailSafe(router, mark, deadline).catch(() => undefined);
      throw error;
    }
    return new ApiWay(options, rules, failSafe, endsAt);
  }

  /** Where connections to the target enter. */
  get entry(): Target {
    return { host: this.#options.router.host, port: this.#rules.entryPort };
  }

  connect(deadline: Deadline): Promise<Duplex> {
    return connectedTcp(this.entry, deadline);
  }

  connectNow(deadline: Deadline): Duplex {
    return connectTcp(this.entry, deadline);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    const { router, mark, log, onLeftBehind } = this.#options;
    const deadline = { timeoutMs: CLOSE_TIMEOUT_MS };
    await this.#working;
    try {
      await removeRules(router, mark, deadline);
      await disarmFailSafe(router, mark, deadline);
      await cutConnections(router, this.#rules, deadline);
    } catch (error) {
      // The agent searches the router when it is reachable again; the router's own entry does it at the end of the time.
      onLeftBehind();
      log.warn({ err: error, router: router.name, mark }, 'the rules of a forward could not be removed from the router yet');
    }
  }

  #renew(): void {
    this.#working = this.#working.then(() => this.#restore()).catch((error: unknown) => {
      this.#options.log.warn({ err: error, router: this.#options.router.name }, 'the rules of a forward could not be renewed');
    });
  }

  async #restore(): Promise<void> {
    const { router, mark } = this.#options;
    const deadline = { timeoutMs: CLOSE_TIMEOUT_MS };
    const left = Math.ceil((this.#endsAt - performance.now()) / 1000);
    if (this.#closed || left <= 0) return;
    if ((await findMarked(router, (comment) => comment === mark, deadline)).length >= 2) return;
    await removeRules(router, mark, deadline);
    await disarmFailSafe(router, mark, deadline);
    await armFailSafe(router, mark, left, deadline);
    await addRules(router, this.#rules, deadline);
  }
}
