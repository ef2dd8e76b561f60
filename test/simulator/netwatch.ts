/** `/tool/netwatch`: looks at hosts again and again, and runs a script when one comes or goes. */
import { formatDateTime, parseDuration } from './formats.ts';
import type { Item } from './menu/table.ts';
import { isReachable, resolveName } from './reachable.ts';
import { startScript } from './script-jobs.ts';
import type { RouterState } from './state.ts';

const MENU = '/tool/netwatch';
/** The first look at a new host comes at once, but after the command that added it. */
const FIRST_LOOK_MS = 1;
/** Shorter intervals would only heat the simulator. */
const SHORTEST_MS = 10;
const POLICIES = new Set(['read', 'write', 'test', 'reboot']);

export class Netwatch {
  readonly #router: RouterState;
  readonly #timers = new Map<string, () => void>();
  #unwatch: () => void = () => undefined;

  constructor(router: RouterState) {
    this.#router = router;
  }

  start(): void {
    const table = this.#router.table(MENU);
    this.#unwatch = table.watch(({ kind, item }) => {
      if (kind === 'remove' || item.values.get('disabled') === 'true') this.#forget(item);
      else if (!this.#timers.has(item.id)) this.#plan(item, FIRST_LOOK_MS);
    });
    for (const item of table.items) if (item.values.get('disabled') !== 'true') this.#plan(item, FIRST_LOOK_MS);
  }

  stop(): void {
    this.#unwatch();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #forget(item: Item): void {
    this.#timers.get(item.id)?.();
    this.#timers.delete(item.id);
  }

  #plan(item: Item, ms: number): void {
    this.#timers.set(
      item.id,
      this.#router.time.after(ms, () => {
        this.#plan(item, Math.max(SHORTEST_MS, parseDuration(item.values.get('interval') ?? '') ?? 60_000));
        this.#look(item);
      }),
    );
  }

  #look(item: Item): void {
    const router = this.#router;
    const address = resolveName(router, item.values.get('host') ?? '');
    const status = address !== undefined && isReachable(router, address) ? 'up' : 'down';
    if (item.values.get('status') === status) return;
    router.table(MENU).update(item, [
      ['status', status],
      ['since', formatDateTime(router.version, router.clock.wallMs())],
    ]);
    router.log('netwatch,info', `event ${status} [ type: simple, host: ${item.values.get('host') ?? ''} ]`);
    this.#run(item, status);
  }

  #run(item: Item, status: 'up' | 'down'): void {
    const source = item.values.get(`${status}-script`) ?? '';
    if (source === '') return;
    const script = this.#router.table('/system/script').find('name', source)?.values.get('source') ?? source;
    const session = this.#router.ownSession({ user: '*sys', policies: POLICIES, origin: 'script' });
    const { done } = startScript(this.#router, { kind: 'netwatch', name: item.values.get('host') ?? '', source: script, session });
    // `done` never rejects.
    void done.then(() => session.end());
  }
}
