import { randomUUID } from 'node:crypto';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import { JobRunner } from '../../../agent/jobs/runner.ts';
import type { ApiCommand, CommandReply, Deadline } from '../../../agent/routers/adapter.ts';
import type { JobOffer, JobResult } from '../../../protocol/index.ts';
import { ManualClock } from '../manual-clock.ts';
import { silentLog } from '../silent-log.ts';
import { MemoryDisk } from './memory-disk.ts';
import { Mortal, MortalClock, MortalDisk } from './process.ts';
import { Chance, turns } from './random.ts';
import { ScriptedAdapter, ScriptedRouter } from './scripted-router.ts';

type Answer = () => Promise<CommandReply>;

/** Lets a test step into commands on their way to the router. */
class WatchedAdapter extends ScriptedAdapter {
  onCommand: ((command: ApiCommand, run: Answer, deadline: Deadline) => Promise<CommandReply>) | undefined;

  override command(command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
    const run: Answer = () => super.command(command, deadline);
    return this.onCommand ? this.onCommand(command, run, deadline) : run();
  }
}

/** An agent with one scripted router, on a clock that the test moves. Its process can be killed and started again. */
export class GuardedAgent {
  readonly clock = new ManualClock();
  readonly disk = new MemoryDisk();
  readonly router = new ScriptedRouter('S1', this.clock, new Chance(1));
  readonly results = new Map<string, JobResult>();
  isAlive = true;
  adapter!: WatchedAdapter;
  runner!: JobRunner;
  #process!: Mortal;

  async start(): Promise<void> {
    this.#process = new Mortal();
    this.adapter = new WatchedAdapter('r1', this.router, this.#process);
    this.runner = new JobRunner({
      journal: await Journal.open(new MortalDisk(this.disk, this.#process)),
      routers: new Map([['r1', this.adapter]]),
      send: (message) => {
        if (message.type === 'job.ended') this.results.set(message.job_id, message.result);
      },
      isAlive: () => Promise.resolve(this.isAlive),
      clock: new MortalClock(this.clock, this.#process),
      log: silentLog,
    });
    this.runner.start();
  }

  kill(): void {
    this.#process.dead = true;
    this.router.dropSessions();
  }

  async pass(ms: number): Promise<void> {
    for (let rest = ms; rest > 0; rest -= 500) {
      await turns(20);
      this.clock.advance(Math.min(rest, 500));
    }
    await turns(20);
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    for (let waited = 0; waited < 2000; waited += 1) {
      if (condition()) return;
      await this.pass(500);
    }
    throw new Error(`never: ${what}`);
  }

  async run(offer: JobOffer): Promise<void> {
    await this.runner.onOffer(offer);
    await this.runner.onGo(offer.job_id);
  }

  /** Up to the moment between arming and BEGIN, at which whatever is under way hangs. */
  async armOnly(offer: JobOffer): Promise<void> {
    let isReached = false;
    this.adapter.onCommand = ({ words }, run, deadline) => {
      if (!words.some((word) => word.includes(':onerror'))) return run();
      isReached = true;
      return this.router.operation(this.#process, deadline, () => new Promise<never>(() => undefined));
    };
    await this.run(offer);
    await this.until('the guard is armed', () => isReached);
  }

  get uptime(): number {
    return this.router.facts().uptimeSeconds!;
  }
}

export function guardedOffer(allowedSeconds: number): JobOffer {
  return {
    type: 'job.offer',
    job_id: randomUUID(),
    router: 'r1',
    hardware_id: 'S1',
    script: 'run 1000 ok',
    make_backup: false,
    needs_acknowledgement: true,
    timeout_ms: 60_000,
    undo_unless_reachable_seconds: allowedSeconds,
  };
}
