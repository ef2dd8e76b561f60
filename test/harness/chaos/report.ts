/** Report of a chaos run, for people. */
export interface RunSummary {
  sums: { acknowledged: number; lost: number; twice: number; false: number };
  /** How many jobs ended in each way. */
  outcomes: Record<string, number>;
  /** How often each kind of fault happened. */
  faults: Record<string, number>;
}

export function describeRun(name: string, { sums, outcomes, faults }: RunSummary): string {
  const share = ((100 * (outcomes['unknown'] ?? 0)) / sums.acknowledged).toFixed(1);
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return (
    `${name}: ${sums.acknowledged} jobs acknowledged, ${sums.lost} lost, ${sums.twice} run twice, ${sums.false} reported falsely, ` +
    `${share} % unknown; ${total} faults\n  outcomes ${JSON.stringify(outcomes)}\n  faults ${JSON.stringify(faults)}\n`
  );
}
