import type { Metered } from './processes.ts';

/** One path from the load to the targets: the same three services behind three entry ports. */
export interface Path {
  name: string;
  sink: number;
  source: number;
  echo: number;
  /** The processes in the middle. */
  hops: Metered[];
}
