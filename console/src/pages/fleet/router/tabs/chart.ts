/** One step of a measurement. */
export interface ChartStep {
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  min: number;
  mean: number;
  max: number;
}

export interface Chart {
  /** SVG paths: from least to greatest, and the mean. */
  band: string;
  line: string;
  /** Value at the top of the chart, and the greatest one that was measured. */
  top: number;
  greatest: number;
}

interface Size {
  width: number;
  height: number;
}

/** Air above the greatest value. */
const HEADROOM = 1.1;

/** The paths of a chart. A gap between two steps is a gap in the line: nothing was measured then. */
export function chartOf(
  steps: readonly ChartStep[],
  { from, to }: { from: number; to: number },
  { width, height }: Size,
  most?: number,
): Chart {
  const greatest = steps.reduce((high, { max }) => Math.max(high, max), 0);
  const top = most ?? niceAbove(greatest * HEADROOM);
  const x = (at: number): string => (((Math.min(Math.max(at, from), to) - from) / (to - from)) * width).toFixed(1);
  const y = (value: number): string => (height - (Math.min(value, top) / top) * height).toFixed(1);
  const parts = runsOf(steps);
  const edges = (run: readonly ChartStep[], read: (step: ChartStep) => number): string[] =>
    run.flatMap((step) => [`${x(step.from)},${y(read(step))}`, `${x(step.to)},${y(read(step))}`]);
  const line = parts.map((run) => `M${edges(run, ({ mean }) => mean).join('L')}`).join('');
  const band = parts.map((run) => `M${[...edges(run, ({ max }) => max), ...edges(run, ({ min }) => min).reverse()].join('L')}Z`).join('');
  return { band, line, top, greatest };
}

/** Steps that follow each other without a gap. */
function runsOf(steps: readonly ChartStep[]): ChartStep[][] {
  const runs: ChartStep[][] = [];
  for (const step of steps) {
    const run = runs.at(-1);
    if (run && run.at(-1)!.to >= step.from) run.push(step);
    else runs.push([step]);
  }
  return runs;
}

/** 1, 2 or 5 with zeros. */
function niceAbove(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value)!;
}
