import type { Fixed, Millis } from './schema-columns.ts';

/**
 * Measurements in steps of time. Their tables are the largest, so they carry no team: agents and routers do, and every query names
 * the team there. Rows with another `part` are parts of the same step (core/step-writer.ts).
 */
interface Step {
  /** Length of the step, seconds: 900 or 3600. */
  span_s: Fixed<number>;
  /** Its beginning. */
  at: Fixed<Millis>;
  part: Fixed<number>;
}

/** The round trips of an agent's tunnels. */
export interface AgentLinkStepsTable extends Step {
  agent_id: Fixed<string>;
  answered: number;
  lost: number;
  /** Microseconds; null without an answered ping. */
  least_us: number | null;
  most_us: number | null;
  /** As core/round-trips.ts writes them: what the quantiles of any longer step are made of. */
  counts: string;
}

/** Statistics of one measured value: mean = sum / count. Whole numbers; without a reading the count and the sum are 0, the others null. */
type Measured<Name extends string> = { [Column in `${Name}_${'count' | 'sum'}`]: number } & {
  [Column in `${Name}_${'min' | 'max'}`]: number | null;
};

/** The health that agents report of a router. Tenths of a percent, tenths of a degree, hundredths of a volt. */
export type RouterHealthStepsTable = Step & { router_id: Fixed<string> } & Measured<'cpu' | 'memory' | 'disk' | 'celsius' | 'volts'>;
