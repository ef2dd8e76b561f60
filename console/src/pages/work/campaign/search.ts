import type { Work } from '../../../parts/work.ts';

const SHOWN = [
  'done',
  'running',
  'failed',
  'rolled_back',
  'unknown',
  'expired',
  'waiting',
  'canceled',
  'skipped',
] as const satisfies readonly Work[];

export interface CampaignSearch {
  /** Routers with this result are listed below the matrix. */
  show?: Work;
}

export function readCampaignSearch({ show }: Record<string, unknown>): CampaignSearch {
  const known = SHOWN.find((work) => work === show);
  return known === undefined ? {} : { show: known };
}
