/** How questions ended. */
export const ASK_ENDS = ['answered', 'refused', 'nobody', 'away', 'deadline', 'aborted', 'lost'] as const;

export type AskEnd = (typeof ASK_ENDS)[number];

/** What happened on the bus since the start, for the metrics. */
export class BusCounts {
  readonly asks = Object.fromEntries(ASK_ENDS.map((end) => [end, 0])) as Record<AskEnd, number>;
  /** Connections to the server of the bus that were made. */
  connections = 0;
  /** Messages that could not be read. */
  unreadable = 0;
}
