import type { JobResult } from '../../../protocol/index.ts';
import type { BootMark, JournalRecord, StoredOffer } from './records.ts';

/** A job from ACCEPT until nothing of it is left on the router. */
export interface JournalEntry {
  readonly offer: StoredOffer;
  readonly state: 'accepted' | 'begun' | 'refused' | 'ended';
  readonly boot: BootMark | undefined;
  /** When arming its undo guard began; once armed, the start of the guard's time. */
  readonly guard: BootMark | undefined;
  /** The guard may still fire. */
  readonly isArmed: boolean;
  readonly result: JobResult | undefined;
  /** The control plane has the outcome; only the router must be cleaned up. */
  readonly acked: boolean;
}

/**
 * Finished jobs that are kept by id: a day of a busy agent. An offer of one of them is late, or comes from a control plane whose
 * database was restored.
 */
const OVER_LIMIT = 1000;

/** The state after all records. Pure: only {@link applyRecord} changes it. */
export interface JournalMemory {
  id: string;
  lastEpoch: number;
  entries: Map<string, JournalEntry>;
  /** Results of finished jobs without their output, oldest first. */
  over: Map<string, JobResult>;
}

export function emptyMemory(): JournalMemory {
  return { id: '', lastEpoch: 0, entries: new Map(), over: new Map() };
}

/** Why the record is invalid after the earlier ones; undefined when it is valid. */
export function recordProblem(memory: JournalMemory, record: JournalRecord): string | undefined {
  if (record.t === 'journal') return memory.id === '' ? undefined : 'a journal begins in the middle';
  if (memory.id === '') return 'the first line is missing';
  switch (record.t) {
    // The epoch may decrease: the control plane's database may have been restored from a backup.
    case 'epoch':
    case 'over':
      return undefined;
    case 'accept':
      return memory.entries.has(record.offer.job_id) ? 'a job is accepted twice' : undefined;
    default:
      return stepProblem(memory.entries.get(record.id), record.t);
  }
}

type Step = 'guard' | 'disarmed' | 'begin' | 'refused' | 'end' | 'acked' | 'cleaned';

/** BEGIN happens once, and only for a job that was not refused: this guarantees that no job runs twice. */
const STEPS: Record<Step, (entry: JournalEntry) => boolean> = {
  guard: (entry) => entry.state === 'accepted',
  disarmed: (entry) => entry.guard !== undefined,
  begin: (entry) => entry.state === 'accepted',
  refused: (entry) => entry.state === 'accepted',
  // Without BEGIN: a job that failed before anything ran.
  end: (entry) => entry.state === 'accepted' || entry.state === 'begun',
  acked: (entry) => (entry.state === 'ended' || entry.state === 'refused') && !entry.acked,
  cleaned: (entry) => entry.acked,
};

function stepProblem(entry: JournalEntry | undefined, step: Step): string | undefined {
  if (!entry) return `${step} of a job that was not accepted`;
  return STEPS[step](entry) ? undefined : `${step} of a job that is ${entry.acked ? 'acked' : entry.state}`;
}

/** The record must be allowed by {@link recordProblem}. */
export function applyRecord(memory: JournalMemory, record: JournalRecord): void {
  switch (record.t) {
    case 'journal':
      memory.id = record.id;
      return;
    case 'epoch':
      memory.lastEpoch = record.epoch;
      return;
    case 'over':
      remember(memory, record.id, record.result);
      return;
    case 'accept':
      memory.entries.set(record.offer.job_id, {
        offer: record.offer,
        state: 'accepted',
        boot: undefined,
        guard: undefined,
        isArmed: false,
        result: undefined,
        acked: false,
      });
      return;
    case 'cleaned':
      finish(memory, record.id);
      return;
    default:
      memory.entries.set(record.id, stepped(memory.entries.get(record.id)!, record));
  }
}

function stepped(
  entry: JournalEntry,
  record: Extract<JournalRecord, { t: 'guard' | 'disarmed' | 'begin' | 'refused' | 'end' | 'acked' }>,
): JournalEntry {
  switch (record.t) {
    case 'guard':
      return { ...entry, guard: record.boot, isArmed: true };
    case 'disarmed':
      return { ...entry, isArmed: false };
    case 'begin':
      return { ...entry, state: 'begun', boot: record.boot };
    case 'refused':
      return { ...entry, state: 'refused' };
    case 'end':
      return { ...entry, state: 'ended', result: record.result };
    case 'acked':
      return { ...entry, acked: true };
  }
}

/** A refused job never ran, so it may be offered again; an ended one may not. */
function finish(memory: JournalMemory, id: string): void {
  const entry = memory.entries.get(id);
  memory.entries.delete(id);
  if (entry?.result) remember(memory, id, entry.result);
}

function remember(memory: JournalMemory, id: string, result: JobResult): void {
  memory.over.delete(id);
  memory.over.set(id, { ...result, output: null, output_truncated: result.output !== null || result.output_truncated });
  const oldest = memory.over.keys().next();
  if (memory.over.size > OVER_LIMIT && !oldest.done) memory.over.delete(oldest.value);
}

/** The shortest list of records with the same result. */
export function compactRecords(memory: JournalMemory): JournalRecord[] {
  const records: JournalRecord[] = [{ t: 'journal', v: 1, id: memory.id }];
  if (memory.lastEpoch > 0) records.push({ t: 'epoch', epoch: memory.lastEpoch });
  for (const [id, result] of memory.over) records.push({ t: 'over', id, result });
  for (const entry of memory.entries.values()) records.push(...entryRecords(entry));
  return records;
}

function entryRecords({ offer, state, guard, isArmed, boot, result, acked }: JournalEntry): JournalRecord[] {
  const id = offer.job_id;
  const records: JournalRecord[] = [{ t: 'accept', offer }];
  if (guard) records.push({ t: 'guard', id, boot: guard });
  if (guard && !isArmed) records.push({ t: 'disarmed', id });
  if (boot) records.push({ t: 'begin', id, boot });
  if (state === 'refused') records.push({ t: 'refused', id });
  if (result) records.push({ t: 'end', id, result });
  if (acked) records.push({ t: 'acked', id });
  return records;
}
