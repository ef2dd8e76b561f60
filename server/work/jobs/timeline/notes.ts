import type { Phase } from '../state.ts';

/** What a job's row notes of each of its transitions, beside the moments that the interface shows. */
export const NOTE_KINDS = [
  'accepted',
  'began',
  'ended',
  'refused',
  'cancel_requested',
  'canceled',
  'expired',
  'gave_up',
  'deleted',
  'guard_armed',
  'guard_disarmed',
  'rolled_back',
] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

/** Who caused it: the agent that holds the job, the control plane by itself, a campaign, or a key or person by id. */
export type NotedBy = { type: 'agent' | 'control_plane' } | { type: 'campaign' | 'caller'; id: string };

export interface Note {
  kind: NoteKind;
  /** Milliseconds since 1970. */
  at: number;
  /** The agent's connection that reported it. */
  epoch: number | null;
  by: NotedBy;
  reason: string | null;
  /** The phase from then on; null for what is no transition. */
  phase: Phase | null;
}

const CODE = { agent: 'a', control_plane: 'c', campaign: 'g', caller: 'k' } as const;
const TYPES = Object.fromEntries(Object.entries(CODE).map(([type, code]) => [code, type])) as Record<string, NotedBy['type']>;

/** About 50 characters: a job has three or four notes, and a million jobs are common. */
export function encodeNote({ kind, at, epoch, by, reason, phase }: Note): string {
  return `${JSON.stringify([kind, at, epoch, CODE[by.type] + ('id' in by ? by.id : ''), reason, phase])},`;
}

/** @param text several encoded notes, as they follow each other */
export function decodeNotes(text: string | null): Note[] {
  if (text === null || text === '') return [];
  const rows = JSON.parse(`[${text.slice(0, -1)}]`) as [NoteKind, number, number | null, string, string | null, Phase | null][];
  return rows.map(([kind, at, epoch, by, reason, phase]) => ({ kind, at, epoch, by: readBy(by), reason, phase }));
}

function readBy(text: string): NotedBy {
  const type = TYPES[text.slice(0, 1)] ?? 'control_plane';
  return type === 'agent' || type === 'control_plane' ? { type } : { type, id: text.slice(1) };
}
