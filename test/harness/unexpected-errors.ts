import process from 'node:process';

/** Records uncaught errors, which would end the process. The test runner reports them as well. */
export class UnexpectedErrors {
  readonly #seen: string[] = [];
  readonly #note = (error: unknown): void => {
    this.#seen.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };

  constructor() {
    process.on('uncaughtException', this.#note);
    process.on('unhandledRejection', this.#note);
  }

  /** Those seen since the last call. */
  take(): string[] {
    return this.#seen.splice(0);
  }

  stop(): void {
    process.off('uncaughtException', this.#note);
    process.off('unhandledRejection', this.#note);
  }
}
