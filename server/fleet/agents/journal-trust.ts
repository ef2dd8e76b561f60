import type { ReportedJournal, KnownEpoch } from './types.ts';

/**
 * True when the agent's list of jobs cannot be trusted: its disk was replaced or restored from
 * an older image (docs/job-handover.md, "agent's disk restored or wiped").
 */
export function mustReset(agent: ReportedJournal, known: KnownEpoch): boolean {
  // The very first journal of an agent has nothing to forget.
  if (known.journalId === null) return false;
  return agent.journalId !== known.journalId || agent.lastEpoch < known.confirmedEpoch;
}
