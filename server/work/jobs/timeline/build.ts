import type { Phase } from '../state.ts';
import type { JobRecord } from '../types.ts';
import { decodeNotes } from './notes.ts';
import type { Note, NotedBy } from './notes.ts';
import type { Names, Situation, TimelineBy, TimelineItem, WaitsFor } from './types.ts';

/** Pure: a job's row, the states of its router and names become its timeline. */

const WAITS_FOR: Record<string, WaitsFor> = { answering: 'turn', not_answering: 'router', agent_away: 'agent', never_seen: 'router' };

/** The notes of a job; those of one that is older than the notes are made of its moments. */
export function notesOf(job: JobRecord): Note[] {
  const notes = decodeNotes(job.transitions);
  return notes.length > 0 ? notes : reconstructed(job);
}

/** Ids of everybody who is in the timeline. */
export function idsOf(job: JobRecord, notes: readonly Note[]): string[] {
  const callers = notes.flatMap(({ by }) => (by.type === 'caller' ? [by.id] : []));
  return [...new Set([job.created_by, job.agent_id, ...callers].filter((id) => id !== null))];
}

/** When the job stopped waiting for its agent; undefined while it does. */
export function waitedUntil(notes: readonly Note[]): number | undefined {
  return notes[0]?.at;
}

/** In the order in which things happened; moments may go back where somebody has set the clock. */
export function buildTimeline(
  job: JobRecord,
  notes: readonly Note[],
  { situations, names }: { situations: readonly Situation[]; names: Names },
): TimelineItem[] {
  const created: TimelineItem = {
    ...item('created', job.created_at),
    phase: 'queued',
    by: job.created_by === null ? null : callerOf(job.created_by, names),
  };
  const transitions = notes.map((note) => ({
    ...item(note.kind, note.at),
    phase: note.phase,
    epoch: note.epoch,
    by: byOf(note.by, job, names),
    reason: note.reason,
  }));
  return [created, ...waits(job.created_at, waitedUntil(notes), situations), ...transitions];
}

function item(kind: TimelineItem['kind'], at: number): TimelineItem {
  return { kind, at, until: null, phase: null, epoch: null, by: null, reason: null, waitsFor: null };
}

/** One after the other without gaps. What nobody knows is `unknown`. */
function waits(from: number, to: number | undefined, situations: readonly Situation[]): TimelineItem[] {
  const end = to ?? Number.POSITIVE_INFINITY;
  const found: TimelineItem[] = [];
  let at = from;
  const add = (until: number, waitsFor: WaitsFor, reason: string | null): void => {
    if (until <= at) return;
    found.push({ ...item('waiting', at), until: until === Number.POSITIVE_INFINITY ? null : until, reason, waitsFor });
    at = until;
  };
  for (const { state, reason, since, until } of situations) {
    add(Math.min(since, end), 'unknown', null);
    add(Math.min(until ?? Number.POSITIVE_INFINITY, end), WAITS_FOR[state] ?? 'unknown', reason);
  }
  add(end, 'unknown', null);
  return found;
}

function byOf(by: NotedBy, job: JobRecord, names: Names): TimelineBy {
  if (by.type === 'caller') return callerOf(by.id, names);
  if (by.type === 'campaign') return { type: 'campaign', id: by.id, name: null };
  if (by.type === 'control_plane') return { type: 'control_plane', id: null, name: null };
  return { type: 'agent', id: job.agent_id, name: names.agents.get(job.agent_id ?? '') ?? null };
}

function callerOf(id: string, names: Names): TimelineBy {
  const [key, person] = [names.keys.get(id), names.people.get(id)];
  if (key !== undefined) return { type: 'api_key', id, name: key };
  if (person !== undefined) return { type: 'user', id, name: person };
  // A key that was forgotten, or a person who has left.
  return { type: 'unknown', id, name: null };
}

function reconstructed(job: JobRecord): Note[] {
  const { accepted_at: acceptedAt, started_at: startedAt, completed_at: completedAt, failed_at: failedAt, deleted_at: deletedAt } = job;
  const note = (kind: Note['kind'], at: number | null, by: NotedBy, phase: Phase | null): Note[] =>
    at === null ? [] : [{ kind, at, epoch: by.type === 'agent' ? job.epoch : null, by, reason: null, phase }];
  const agent: NotedBy = { type: 'agent' };
  const self: NotedBy = { type: 'control_plane' };
  const ends: Partial<Record<Phase, Note[]>> = {
    done: note('ended', failedAt ?? completedAt, agent, 'done'),
    unknown: note('gave_up', failedAt, self, 'unknown'),
    expired: note('expired', failedAt, self, 'expired'),
    canceled: note('canceled', deletedAt, self, 'canceled'),
  };
  const end = ends[job.phase as Phase] ?? [];
  const deleted = job.phase === 'canceled' ? [] : note('deleted', deletedAt, self, null);
  const reasoned = end.map((last) => ({ ...last, reason: job.reason }));
  return [...note('accepted', acceptedAt, agent, 'accepted'), ...note('began', startedAt, agent, 'running'), ...reasoned, ...deleted];
}
