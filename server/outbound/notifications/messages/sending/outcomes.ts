import type { ClaimedMessage, Settlement } from './store.ts';

/** What became of a message that was due; `retry` comes again. */
export const OUTCOMES = ['sent', 'retry', 'held', 'withheld', 'superseded', 'failed'] as const;

type Outcome = (typeof OUTCOMES)[number];

function noneOfAny(): Record<Outcome, number> {
  return { sent: 0, retry: 0, held: 0, withheld: 0, superseded: 0, failed: 0 };
}

/** What became of the messages that this process has handled since its start, for the metrics. */
export class MessageOutcomes {
  readonly #counts = new Map<string, Record<Outcome, number>>();

  /** @param channels those that can send: a series with 0 lets an alert see the first count */
  constructor(channels: readonly string[]) {
    for (const channel of channels) this.#counts.set(channel, noneOfAny());
  }

  /** The settlement is stored. */
  add({ channel }: Pick<ClaimedMessage, 'channel'>, { state }: Pick<Settlement, 'state'>): void {
    const counts = this.#counts.get(channel) ?? noneOfAny();
    this.#counts.set(channel, counts);
    counts[state === 'pending' ? 'retry' : state] += 1;
  }

  read(): { labels: { channel: string; outcome: Outcome }; value: number }[] {
    return [...this.#counts].flatMap(([channel, counts]) =>
      OUTCOMES.map((outcome) => ({ labels: { channel, outcome }, value: counts[outcome] })),
    );
  }
}
