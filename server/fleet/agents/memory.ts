import type { AgentMemory, KnownSession } from './types.ts';

/**
 * True when the agent may have forgotten jobs it once accepted, or may believe in ones it should not: its disk was
 * restored from an older image, or replaced (docs/job-handover.md, "agent's disk restored or wiped").
 */
export function mustReset(agent: AgentMemory, known: KnownSession): boolean {
  // The very first journal of an agent has nothing to forget.
  if (known.journalId === null) return false;
  return agent.journalId !== known.journalId || agent.lastEpoch < known.confirmedEpoch;
}
