import type { Selectable } from 'kysely';
import type { AgentLinkStepsTable } from '../../platform/storage/schema-steps.ts';

export type LinkStepRow = Selectable<AgentLinkStepsTable>;

/** How the line of an agent was in a step of time. Moments are milliseconds since 1970. */
export interface LinkPoint {
  from: number;
  to: number;
  pingsAnswered: number;
  pingsLost: number;
  /** Milliseconds; null without an answered ping. */
  roundTrip: { min: number; p50: number; p95: number } | null;
}
