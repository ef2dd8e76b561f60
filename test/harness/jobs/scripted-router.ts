import { AgentError } from '../../../agent/core/errors.ts';
import type { Clock, Timer } from '../../../agent/core/clock.ts';
import type {
  ApiCommand,
  CommandReply,
  ConsoleOutput,
  Deadline,
  RouterAdapter,
  RouterFacts,
  RouterState,
} from '../../../agent/routers/adapter.ts';
import type { Mortal } from './process.ts';
import type { Chance } from './random.ts';
import { ScriptedScheduler } from './scripted-guard.ts';
import { turns } from './random.ts';

/** One real run of a job's script. */
export interface Run {
  jobId: string;
  outcome: 'running' | 'done' | 'error' | 'cut';
  /** The router has restored its configuration from before it. */
  undone: boolean;
}

interface RestorePoint {
  scripts: Map<string, string>;
  /** Runs that it does not undo. */
  runs: number;
}

/**
 * A router with as much script language as `wrapScript` writes: it keeps stored scripts and markers over reboots, and
 * remembers what really ran. A job's script is `run <milliseconds> <ok|fail|lock>`; `lock` keeps everybody out from then on.
 */
export class ScriptedRouter {
  readonly hardwareId: string;
  readonly scripts = new Map<string, string>();
  readonly files = new Map<string, number>();
  readonly runs: Run[] = [];
  reachable = true;
  reboots = 0;
  /** By its own configuration. */
  locked = false;
  readonly scheduler: ScriptedScheduler;
  readonly #restorePoints = new Map<string, RestorePoint>();
  /** False: the guard on the router is gone, and a script that is run twice runs twice. */
  keepsMarkers = true;
  /** From the load of a restore point to its effect, in milliseconds. Until then the router answers as before. */
  loadMs = 0;
  #loading: Timer | undefined;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #running = new Map<string, { run: Run; finish: (text: string) => void }>();
  #bootedAt: number;
  /** Raised when every session breaks. */
  #sessions = 0;
  #broken = Promise.withResolvers<never>();

  constructor(hardwareId: string, clock: Clock, chance: Chance) {
    this.hardwareId = hardwareId;
    this.#clock = clock;
    this.#chance = chance;
    this.#bootedAt = clock.monotonic() - 3_600_000;
    this.scheduler = new ScriptedScheduler(
      clock,
      () => this.facts().uptimeSeconds!,
      (file) => this.#load(file),
    );
    this.#broken.promise.catch(() => undefined);
  }

  /** Every session breaks; a script that runs in one is interrupted, or not. */
  breakSessions(): void {
    for (const name of this.#running.keys()) if (this.#chance.happens(0.5)) this.#end(name, 'cut', '');
    this.dropSessions();
  }

  /** Breaks every session; running scripts continue. */
  dropSessions(): void {
    this.#sessions += 1;
    this.#broken.reject(new AgentError('outcome_unknown', 'the connection broke'));
    this.#broken = Promise.withResolvers<never>();
    this.#broken.promise.catch(() => undefined);
  }

  reboot(): void {
    for (const name of this.#running.keys()) this.#end(name, 'cut', '');
    this.#loading?.cancel();
    this.#loading = undefined;
    this.breakSessions();
    this.reboots += 1;
    this.#bootedAt = this.#clock.monotonic();
  }

  /** `/system/backup/load`. */
  #load(file: string): void {
    const point = this.#restorePoints.get(file);
    if (!point || this.#loading) return;
    if (this.loadMs === 0) this.#restore(point);
    else this.#loading = this.#clock.setTimeout(() => this.#restore(point), this.loadMs);
  }

  #restore(point: RestorePoint): void {
    for (const name of this.#running.keys()) this.#end(name, 'cut', '');
    this.scripts.clear();
    for (const [name, source] of point.scripts) this.scripts.set(name, source);
    this.scheduler.clear();
    for (const run of this.runs.slice(point.runs)) run.undone = true;
    this.locked = false;
    this.reboot();
  }

  facts(): RouterFacts {
    const uptimeSeconds = Math.floor((this.#clock.monotonic() - this.#bootedAt) / 1000);
    return {
      hardwareId: this.hardwareId,
      serialNumber: this.hardwareId,
      softwareId: null,
      identity: this.hardwareId,
      softwareVersion: '7.18.2',
      model: null,
      boardName: 'test',
      hardwareBoard: true,
      architecture: null,
      timeZone: null,
      uptime: `${uptimeSeconds}s`,
      uptimeSeconds,
    };
  }

  /** One operation of an agent's process. */
  async operation<T>(owner: Mortal, deadline: Deadline, work: () => T | Promise<T>): Promise<T> {
    await owner.alive();
    if (!this.reachable || this.locked) throw new AgentError('router_unreachable', 'no session');
    const session = this.#sessions;
    await turns(this.#chance.int(0, 2));
    await owner.alive();
    if (session !== this.#sessions) throw new AgentError('outcome_unknown', 'the connection broke');
    const expired = Promise.withResolvers<never>();
    expired.promise.catch(() => undefined);
    const giveUp = (): void => expired.reject(new AgentError('outcome_unknown', 'no answer in time'));
    const timer = this.#clock.setTimeout(giveUp, deadline.timeoutMs);
    deadline.signal?.addEventListener('abort', giveUp);
    if (deadline.signal?.aborted === true) giveUp();
    try {
      const answer = await Promise.race([work(), expired.promise, this.#broken.promise]);
      await turns(this.#chance.int(0, 2));
      if (session !== this.#sessions) throw new AgentError('outcome_unknown', 'the connection broke');
      return answer;
    } finally {
      timer.cancel();
      deadline.signal?.removeEventListener('abort', giveUp);
      await owner.alive();
    }
  }

  command({ path, words }: ApiCommand): CommandReply {
    const word = (start: string): string => words.find((text) => text.startsWith(start))?.slice(start.length) ?? '';
    const row = (name: string, value: string | undefined): CommandReply => ({
      rows: value === undefined ? [] : [{ '.id': name, name, source: value, size: value }],
    });
    switch (path) {
      case '/system/script/print':
        return row(word('?=name='), this.scripts.get(word('?=name=')));
      case '/system/script/add':
      case '/system/script/set':
        this.scripts.set(word('=name=') || word('=.id='), word('=source='));
        return { rows: [] };
      case '/system/script/remove':
        this.scripts.delete(word('=.id='));
        return { rows: [] };
      case '/system/script/job/print':
        return row(word('?=script='), this.#running.has(word('?=script=')) ? '1' : undefined);
      case '/system/script/job/remove':
        this.#end(word('=.id='), 'cut', 'interrupted');
        return { rows: [] };
      case '/system/scheduler/print':
        return this.scheduler.print(word('?=name='));
      case '/system/scheduler/add':
        this.scheduler.add(word('=name='), word('=interval='), word('=on-event='));
        return { rows: [] };
      case '/system/scheduler/remove':
        this.scheduler.remove(word('=.id='));
        return { rows: [] };
      case '/file/remove':
        this.files.delete(word('=.id='));
        this.#restorePoints.delete(word('=.id='));
        return { rows: [] };
      case '/file/print':
        if (word('?=name=') === '') return { rows: [...this.files.keys()].map((name) => ({ name })) };
        return row(word('?=name='), this.files.get(word('?=name='))?.toString());
      case '/system/backup/save':
        this.files.set(`${word('=name=')}.backup`, 1000);
        this.#restorePoints.set(`${word('=name=')}.backup`, { scripts: new Map(this.scripts), runs: this.runs.length });
        return { rows: [] };
      case '/export':
        this.files.set(`${word('=file=')}.rsc`, 100);
        return { rows: [] };
      default:
        throw new AgentError('rejected', `no such command: ${path}`);
    }
  }

  /** `:put [:parse …]` and `/system script run "…"`. */
  async console(line: string): Promise<string> {
    if (line.startsWith(':put [:parse')) return '(evl /putmessage=1)\n';
    const name = /^\/system script run "(.*)"$/.exec(line)?.[1] ?? '';
    const source = this.scripts.get(name);
    if (source === undefined) return 'no such item\n';
    const job = /source="# job (\S+) begun"; :onerror \w+ in=\{ run (\d+) (ok|fail|lock)\n/.exec(source);
    // The marker is a comment: nothing runs.
    if (!job) return '';
    return this.#start(name, job[1]!, Number(job[2]), job[3]!);
  }

  #start(name: string, jobId: string, ms: number, kind: string): Promise<string> {
    const succeeds = kind !== 'fail';
    const run: Run = { jobId, outcome: 'running', undone: false };
    this.runs.push(run);
    this.#mark(name, `# job ${jobId} begun`);
    if (kind === 'lock') {
      this.locked = true;
      this.dropSessions();
    }
    return new Promise((resolve) => {
      this.#running.set(name, { run, finish: resolve });
      this.#clock.setTimeout(() => {
        if (this.#running.get(name)?.run !== run) return;
        this.#mark(name, succeeds ? `# job ${jobId} done` : `# job ${jobId} error it failed`);
        this.#end(name, succeeds ? 'done' : 'error', succeeds ? 'ok\n' : 'failure: it failed (:error; line 1)\n');
      }, ms);
    });
  }

  #mark(name: string, marker: string): void {
    if (this.keepsMarkers && this.scripts.has(name)) this.scripts.set(name, marker);
  }

  #end(name: string, outcome: Run['outcome'], text: string): void {
    const running = this.#running.get(name);
    if (!running) return;
    this.#running.delete(name);
    running.run.outcome = outcome;
    running.finish(text);
  }
}

/** The router as one agent process reaches it. */
export class ScriptedAdapter implements RouterAdapter {
  readonly name: string;
  readonly host = 'test';
  readonly forwardWay = 'auto';
  readonly hasApi = true;
  readonly hasSsh = false;
  readonly terminalLevels = [];
  readonly #router: ScriptedRouter;
  readonly #owner: Mortal;

  constructor(name: string, router: ScriptedRouter, owner: Mortal) {
    this.name = name;
    this.#router = router;
    this.#owner = owner;
  }

  state(): RouterState {
    const reachable = this.#router.reachable && !this.#router.locked;
    return { reachable, reason: reachable ? null : 'unreachable', facts: this.#router.facts() };
  }

  onState(): () => void {
    return () => undefined;
  }

  refresh(deadline: Deadline): Promise<RouterFacts> {
    return this.#router.operation(this.#owner, deadline, () => this.#router.facts());
  }

  command(command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
    return this.#router.operation(this.#owner, deadline, () => this.#router.command(command));
  }

  async console(line: string, deadline: Deadline): Promise<ConsoleOutput> {
    const text = await this.#router.operation(this.#owner, deadline, () => this.#router.console(line));
    return { text, truncated: false };
  }

  openTcp(): never {
    throw new Error('not used');
  }

  readFile(): never {
    throw new Error('not used');
  }

  async openShell(): Promise<never> {
    throw new Error('not used');
  }

  testLogin(deadline: Deadline): Promise<void> {
    return this.#router.operation(this.#owner, deadline, () => undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
