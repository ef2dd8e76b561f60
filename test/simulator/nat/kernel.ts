import { formatDuration } from '../formats.ts';
import type { Item } from '../menu/table.ts';
import type { RouterState } from '../state.ts';
import type { Namespace, RuleCount, TrackedConnection } from './namespace.ts';
import { offRuleset, rulesetOf, TABLE } from './nft-ruleset.ts';
import type { Nat } from './types.ts';

const NAT = '/ip/firewall/nat';
const FILTER = '/ip/firewall/filter';
const CONNECTIONS = '/ip/firewall/connection';
const CONCERNED = [NAT, FILTER, '/ip/firewall/address-list', '/interface/list/member'];
/** By then a peer has detected it, or never will. */
const CUT_MS = 60_000;

/**
 * Lets the kernel of a network namespace forward by the router's rules: real packets, real connection tracking. Like
 * RouterOS, it leaves running connections alone when their rule goes; one that is removed from
 * /ip/firewall/connection is answered by resets, which is what becomes of packets that no connection is known for.
 */
export class KernelNat implements Nat {
  readonly #router: RouterState;
  readonly #namespace: Namespace;
  /** Rows of /ip/firewall/connection by tuple. */
  readonly #rows = new Map<string, Item>();
  /** Tuples of forgotten connections, and since when. */
  readonly #cuts = new Map<string, number>();
  /** Counters of the present ruleset as last read: only what has come since is added. */
  #counted = new Map<string, RuleCount>();
  #work: Promise<void> = Promise.resolve();
  #isLoaded = false;
  #isPlanned = false;
  #isObserving = false;
  #stops: (() => void)[] = [];

  constructor(router: RouterState, namespace: Namespace) {
    this.#router = router;
    this.#namespace = namespace;
  }

  start(): void {
    this.#stops = CONCERNED.map((path) => this.#router.table(path).watch(() => this.#plan()));
    this.#stops.push(
      this.#router.table(CONNECTIONS).watch(({ kind, item }) => {
        if (kind === 'remove' && !this.#isObserving) this.#forget(item);
      }),
    );
    this.#plan();
  }

  settled(): Promise<void> {
    return this.#work;
  }

  observe(): Promise<void> {
    this.#work = this.#work.then(() => this.#guarded(() => this.#look()));
    return this.#work;
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    await this.observe();
    for (const tuple of this.#rows.keys()) this.#cuts.set(tuple, Date.now());
    this.#rows.clear();
    await this.#guarded(() => this.#load(offRuleset()));
  }

  /** Changes of one turn become one ruleset. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#work = this.#work.then(() => {
      this.#isPlanned = false;
      return this.#guarded(async () => {
        await this.#count();
        await this.#load(rulesetOf(this.#router, this.#freshCuts()));
      });
    });
  }

  /** Rules that the kernel refuses stay unchanged, and the log says so. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#router.log('firewall,error', `simulator: the kernel refused: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #load(ruleset: string): Promise<void> {
    await this.#namespace.load(ruleset);
    this.#isLoaded = true;
    this.#counted = new Map();
  }

  #freshCuts(): string[] {
    const since = Date.now() - CUT_MS;
    for (const [tuple, at] of this.#cuts) if (at < since) this.#cuts.delete(tuple);
    return [...this.#cuts.keys()];
  }

  #forget(item: Item): void {
    for (const [tuple, row] of this.#rows) {
      if (row !== item) continue;
      this.#rows.delete(tuple);
      this.#cuts.set(tuple, Date.now());
      this.#plan();
    }
  }

  async #look(): Promise<void> {
    await this.#count();
    const present = new Map((await this.#namespace.connections()).map((connection) => [connection.tuple, connection]));
    for (const tuple of this.#cuts.keys()) present.delete(tuple);
    this.#isObserving = true;
    this.#show(present);
    this.#isObserving = false;
  }

  #show(present: ReadonlyMap<string, TrackedConnection>): void {
    const table = this.#router.table(CONNECTIONS);
    for (const [tuple, row] of this.#rows) {
      if (present.has(tuple)) continue;
      this.#rows.delete(tuple);
      table.remove(row);
    }
    for (const [tuple, connection] of present) {
      const row = this.#rows.get(tuple);
      if (row) table.update(row, describe(connection));
      else this.#rows.set(tuple, table.add(describe(connection), { dynamic: true }));
    }
  }

  /** Counters tick without being a change of the rule. */
  async #count(): Promise<void> {
    if (!this.#isLoaded) return;
    const counts = await this.#namespace.counts(TABLE);
    for (const [comment, now] of counts) {
      const before = this.#counted.get(comment) ?? { packets: 0, bytes: 0 };
      const [menu = '', id = ''] = comment.split(' ');
      const rule = this.#router.table(menu).byId(id);
      if (!rule) continue;
      for (const name of ['packets', 'bytes'] as const) {
        rule.values.set(name, String(Number(rule.values.get(name) ?? '0') + now[name] - before[name]));
      }
    }
    this.#counted = counts;
  }
}

function describe({
  source,
  destination,
  replySource,
  replyDestination,
  state,
  timeoutSeconds,
  isAssured,
}: TrackedConnection): [string, string][] {
  return [
    ['protocol', 'tcp'],
    ['src-address', source],
    ['dst-address', destination],
    ['reply-src-address', replySource],
    ['reply-dst-address', replyDestination],
    ['tcp-state', state],
    ['timeout', formatDuration(timeoutSeconds * 1000)],
    ['orig-bytes', '0'],
    ['repl-bytes', '0'],
    ['dstnat', String(replySource !== destination)],
    ['srcnat', String(replyDestination !== source)],
    ['assured', String(isAssured)],
    ['confirmed', 'true'],
    ['seen-reply', String(isAssured)],
  ];
}
