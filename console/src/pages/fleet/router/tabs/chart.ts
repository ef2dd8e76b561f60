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
  scale: Scale;
  /** The greatest value that was measured. */
  greatest: number;
}

/** The ends of the axis of values. They differ, whatever was measured. */
export interface Scale {
  bottom: number;
  top: number;
}

interface Size {
  width: number;
  height: number;
}

/** Air beyond the value that is furthest from zero. */
const HEADROOM = 1.1;

/**
 * From zero to a round value above the greatest, so that a line that never changes has a height, too; below zero only for values there.
 * @param most the top, when the measurement has one: 100 for percent
 */
export function scaleOf(steps: readonly ChartStep[], most?: number): Scale {
  const greatest = Math.max(0, ...steps.map(({ max }) => max));
  const least = Math.min(0, ...steps.map(({ min }) => min));
  const bottom = least < 0 ? -niceAbove(-least * HEADROOM) : 0;
  if (most !== undefined) return { bottom, top: most };
  if (greatest > 0) return { bottom, top: niceAbove(greatest * HEADROOM) };
  return { bottom, top: least < 0 ? 0 : 1 };
}

/** The paths of a chart. A gap between two steps is a gap in the line: nothing was measured then. */
export function chartOf(
  steps: readonly ChartStep[],
  { from, to }: { from: number; to: number },
  { width, height }: Size,
  most?: number,
): Chart {
  const scale = scaleOf(steps, most);
  const { bottom, top } = scale;
  const x = (at: number): string => (((Math.min(Math.max(at, from), to) - from) / (to - from)) * width).toFixed(1);
  const y = (value: number): string => (((top - Math.min(value, top)) / (top - bottom)) * height).toFixed(1);
  const parts = runsOf(steps);
  const edges = (run: readonly ChartStep[], read: (step: ChartStep) => number): string[] =>
    run.flatMap((step) => [`${x(step.from)},${y(read(step))}`, `${x(step.to)},${y(read(step))}`]);
  const line = parts.map((run) => `M${edges(run, ({ mean }) => mean).join('L')}`).join('');
  const band = parts.map((run) => `M${[...edges(run, ({ max }) => max), ...edges(run, ({ min }) => min).reverse()].join('L')}Z`).join('');
  return { band, line, scale, greatest: steps.length === 0 ? 0 : Math.max(...steps.map(({ max }) => max)) };
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

/** 1, 2 or 5 with zeros. @param value above 0 */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((nice) => nice >= value)!;
}
