import type { Log } from '../core/log.ts';

/** `run`: a job's execution. `tidy`: its clean-up. */
export type TaskKind = 'run' | 'clean_up';

interface Task {
  kind: TaskKind;
  controller: AbortController;
  done: Promise<void>;
}

/** Background tasks: tasks with the same key run one after another. None rejects. */
export class Tasks {
  readonly #log: Log;
  readonly #tasks = new Map<string, Task>();
  #stopped = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Kind of the newest task of this key that has not ended. */
  kindOf(key: string): TaskKind | undefined {
    return this.#tasks.get(key)?.kind;
  }

  start(key: string, kind: TaskKind, work: (signal: AbortSignal) => Promise<void>): void {
    const before = this.#tasks.get(key)?.done ?? Promise.resolve();
    const controller = new AbortController();
    if (this.#stopped) controller.abort();
    const done = before
      .then(() => work(controller.signal))
      .catch((error: unknown) => this.#log.error({ err: error, job_id: key }, 'a job stopped unexpectedly'))
      .finally(() => {
        if (this.#tasks.get(key)?.controller === controller) this.#tasks.delete(key);
      });
    this.#tasks.set(key, { kind, controller, done });
  }

  abort(key: string): void {
    this.#tasks.get(key)?.controller.abort();
  }

  /** Settles when all have ended. */
  async abortAll(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const { controller } of tasks) controller.abort();
    await Promise.all(tasks.map(({ done }) => done));
  }

  /** As {@link abortAll}; tasks that are started later are aborted from the beginning. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.abortAll();
  }
}
