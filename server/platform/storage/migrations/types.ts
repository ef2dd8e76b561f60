import type { Engine } from '../capabilities.ts';

/** One step from a schema to the next. Once released it is never changed: databases that have taken it exist. */
export interface Migration {
  /** Without gaps from 1; the file carries it in its name. */
  number: number;
  name: string;
  /** SQL that both engines understand, run in order inside one transaction. */
  statements(engine: Engine): string[];
}
