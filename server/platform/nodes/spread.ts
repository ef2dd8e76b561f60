/** From here on it gives agents to the others: this part, and so many more than the mean of all. */
const BEGIN = { times: 1.2, more: 20 };
/** Down to here. */
const END = { times: 1.05, more: 2 };

/** Agents of one of the control planes that take work. */
export interface Spread {
  own: number;
  /** Of the others, as of their last beats. */
  others: readonly number[];
}

/**
 * How many agents this control plane should give to the others, so that all have about as many: after a restart the last one has none.
 * @param isGiving whether it is at it: it stops later than it begins, so that agents do not go to and fro
 */
export function surplus({ own, others }: Spread, isGiving: boolean): number {
  if (others.length === 0) return 0;
  const mean = (own + others.reduce((sum, count) => sum + count, 0)) / (others.length + 1);
  const begins = own > mean * BEGIN.times + BEGIN.more;
  if (!begins && !isGiving) return 0;
  return Math.max(0, Math.floor(own - mean * END.times - END.more));
}
