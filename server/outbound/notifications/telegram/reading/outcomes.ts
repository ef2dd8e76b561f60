import { READ_PROBLEMS } from '../types.ts';
import type { ReadProblem } from '../types.ts';

type Outcome = 'read' | ReadProblem;
const OUTCOMES: readonly Outcome[] = ['read', ...READ_PROBLEMS];

/** How this process's requests for messages to the bot ended since its start, for the metrics. */
export class ReadOutcomes {
  readonly #counts = new Map<Outcome, number>(OUTCOMES.map((outcome) => [outcome, 0]));

  add(outcome: Outcome): void {
    this.#counts.set(outcome, this.#counts.get(outcome)! + 1);
  }

  read(): { labels: { outcome: Outcome }; value: number }[] {
    return OUTCOMES.map((outcome) => ({ labels: { outcome }, value: this.#counts.get(outcome)! }));
  }
}
