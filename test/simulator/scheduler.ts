import type { Item } from './menu/table.ts';
import { nextRun } from './scheduler-plan.ts';
import { policySet, startNamedScript, startScript, type RunningScript } from './script-jobs.ts';
import type { RouterState } from './state.ts';

const MENU = '/system/scheduler';

/** Fires the entries of /system/scheduler. One timer, set to the earliest of them and again after every change. */
export class Scheduler {
  readonly #router: RouterState;
  readonly #isAllowed: () => boolean;
  /** Wall time at which each entry is due, as last planned. */
  #due = new Map<string, number>();
  #cancelTimer: () => void = () => undefined;
  #unwatch: () => void = () => undefined;
  #counting = false;

  constructor(router: RouterState, isAllowed: () => boolean) {
    this.#router = router;
    this.#isAllowed = isAllowed;
  }

  start(): void {
    this.#unwatch = this.#router.table(MENU).watch(() => {
      if (!this.#counting) this.replan();
    });
    this.replan();
  }

  stop(): void {
    this.#unwatch();
    this.#cancelTimer();
    this.#due.clear();
  }

  /** Also after the clock was set: what lies behind now is skipped. */
  replan(): void {
    this.#cancelTimer();
    this.#due = new Map();
    const { clock, time } = this.#router;
    const now = { wallMs: clock.wallMs(), uptimeMs: clock.uptimeMs() };
    for (const item of this.#router.table(MENU).items) {
      const at = nextRun(item.values, now);
      if (at !== undefined) this.#due.set(item.id, at);
    }
    const earliest = Math.min(...this.#due.values());
    this.#cancelTimer = Number.isFinite(earliest) ? time.after(earliest - now.wallMs, () => this.#fire()) : () => undefined;
  }

  #fire(): void {
    const now = this.#router.clock.wallMs();
    const ripe = [...this.#due].filter(([, at]) => at <= now).map(([id]) => id);
    for (const id of ripe) {
      const item = this.#router.table(MENU).byId(id);
      if (item && this.#isAllowed()) this.#run(item);
    }
    this.replan();
  }

  #run(item: Item): void {
    this.#counting = true;
    this.#router.table(MENU).update(item, [['run-count', String(Number(item.values.get('run-count') ?? '0') + 1)]]);
    this.#counting = false;
    const event = (item.values.get('on-event') ?? '').trim();
    const session = this.#router.ownSession({
      user: item.values.get('owner') ?? 'admin',
      policies: policySet(item.values.get('policy') ?? ''),
      origin: 'scheduler',
    });
    const running = this.#startEvent(event, item, session);
    // `done` never rejects.
    void running.done.then((result) => {
      session.end();
      if (result.error !== undefined)
        this.#router.log('script,error', `executing script ${item.values.get('name') ?? ''} from scheduler failed: ${result.error}`);
    });
  }

  /** `on-event` is a script's name or the source itself. */
  #startEvent(event: string, item: Item, session: ReturnType<RouterState['ownSession']>): RunningScript {
    const name = item.values.get('name') ?? '';
    const source = this.#router.table('/system/script').find('name', event)?.values.get('source');
    const named = source === undefined ? undefined : startNamedScript(this.#router, event, session);
    return named ?? startScript(this.#router, { kind: 'scheduler', name, source: event, session });
  }
}
