import type { Engine } from '../capabilities.ts';

/** One step from a schema to the next. Once released it is never changed: databases that have taken it exist. */
export interface Migration {
  /** Without gaps from 1; the file carries it in its name. */
  number: number;
  name: string;
  /**
   * True for a step that only adds what older programs do not need: tables, indexes, columns that may be null or have a default. A program
   * before it then runs on beside newer ones. What it no longer needs is removed a release later, by a step without this.
   */
  expands?: boolean;
  /** SQL that both engines understand, run in order inside one transaction. */
  statements(engine: Engine): string[];
}
