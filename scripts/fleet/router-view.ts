import type { SeenDevice } from '../../protocol/index.ts';
import type { PlannedRouter } from './plan.ts';

/** A light router as its commands, its export and its scripts see it. */
export interface RouterView {
  readonly plan: PlannedRouter;
  identity: string;
  readonly version: string;
  /** Lines that scripts and commands have added to the configuration. */
  readonly changes: string[];
  readonly uptimeSeconds: number;
  devices(): SeenDevice[];
  /** Text of `/export`. */
  export(): string;
}
