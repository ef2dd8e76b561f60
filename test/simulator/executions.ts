export type ExecutionKind = 'command' | 'script' | 'scheduler' | 'execute' | 'import' | 'exec' | 'netwatch';

/** One real execution on the router. The router adds and ends entries but never removes them. */
export interface Execution {
  readonly kind: ExecutionKind;
  /** Script or scheduler name, command path or file name. */
  readonly name: string;
  /** Source text, or the command's attributes in API form. */
  readonly source: string;
  readonly user: string;
  readonly startedAt: number;
  endedAt: number | undefined;
  outcome: 'ok' | 'error' | 'interrupted' | undefined;
  error: string | undefined;
}

export interface ExecutionHandle {
  end(outcome: 'ok' | 'error' | 'interrupted', error?: string): void;
}

// A demo may run for days; tests look at far fewer.
const MOST_KEPT = 100_000;

/** Chaos tests read this record to prove that nothing ran twice. Read-only commands such as print are left out. */
export class ExecutionRecord {
  readonly #entries: Execution[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** All entries, oldest first. */
  list(): readonly Execution[] {
    return this.#entries;
  }

  /** Entries whose source or name contains `text`. */
  containing(text: string): Execution[] {
    return this.#entries.filter((entry) => entry.source.includes(text) || entry.name.includes(text));
  }

  begin(entry: Pick<Execution, 'kind' | 'name' | 'source' | 'user'>): ExecutionHandle {
    const execution: Execution = { ...entry, startedAt: this.#now(), endedAt: undefined, outcome: undefined, error: undefined };
    this.#entries.push(execution);
    if (this.#entries.length > MOST_KEPT) this.#entries.shift();
    return {
      end: (outcome, error) => {
        if (execution.outcome !== undefined) return;
        execution.endedAt = this.#now();
        execution.outcome = outcome;
        execution.error = error;
      },
    };
  }
}
