import type { Clock, Timer } from '../../../agent/core/clock.ts';
import type { CommandReply } from '../../../agent/routers/adapter.ts';

interface Entry {
  everyMs: number;
  source: string;
  runCount: number;
  timer: Timer;
}

/** The scheduler of a scripted router, with as much of the script language as an undo guard's entry is made of. */
export class ScriptedScheduler {
  readonly entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #uptime: () => number;
  readonly #load: (file: string) => void;

  constructor(clock: Clock, uptime: () => number, load: (file: string) => void) {
    this.#clock = clock;
    this.#uptime = uptime;
    this.#load = load;
  }

  add(name: string, interval: string, source: string): void {
    this.entries.set(name, { everyMs: Number.parseInt(interval, 10) * 1000, source, runCount: 0, timer: this.#next(name, 1000) });
  }

  remove(name: string): void {
    this.entries.get(name)?.timer.cancel();
    this.entries.delete(name);
  }

  clear(): void {
    for (const name of this.entries.keys()) this.remove(name);
  }

  print(name: string): CommandReply {
    const names = name === '' ? [...this.entries.keys()] : [name].filter((each) => this.entries.has(each));
    return {
      rows: names.map((each) => ({
        '.id': each,
        name: each,
        'run-count': String(this.entries.get(each)!.runCount),
        'next-run': 'soon',
        disabled: 'false',
        'on-event': this.entries.get(each)!.source,
      })),
    };
  }

  #next(name: string, ms: number): Timer {
    return this.#clock.setTimeout(() => this.#tick(name), ms);
  }

  #tick(name: string): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    entry.runCount += 1;
    entry.timer = this.#next(name, entry.everyMs);
    const [due = 0, armed = 0, afterReboot = 0] = [...entry.source.matchAll(/[<>]=? ((?:\d+d)?\d\d:\d\d:\d\d)/g)].map(([, time]) =>
      seconds(time!),
    );
    const uptime = this.#uptime();
    const isDue = uptime >= due || (uptime < armed && uptime >= afterReboot);
    if (isDue) this.#load(/backup load name="([^"]+)"/.exec(entry.source)![1]!);
  }
}

/** `3d04:05:06` in seconds. */
function seconds(time: string): number {
  const [, days = '0', hours, minutes, rest] = /^(?:(\d+)d)?(\d\d):(\d\d):(\d\d)$/.exec(time)!;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(rest);
}
