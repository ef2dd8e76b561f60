import type { NoteKind } from './notes.ts';
import type { Phase } from '../state.ts';

/** A state of the router while the job waited. Moments are milliseconds since 1970. */
export interface Situation {
  state: string;
  reason: string | null;
  since: number;
  until: number | null;
}

/** By id. */
export interface Names {
  keys: ReadonlyMap<string, string>;
  people: ReadonlyMap<string, string>;
  agents: ReadonlyMap<string, string>;
}

export const TIMELINE_BY = ['api_key', 'user', 'agent', 'campaign', 'control_plane', 'unknown'] as const;

export interface TimelineBy {
  type: (typeof TIMELINE_BY)[number];
  id: string | null;
  name: string | null;
}

/** What a job waits for before its agent has it: its agent, its router, or its turn on a router that answers. */
export const WAITS_FOR = ['agent', 'router', 'turn', 'unknown'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

export interface TimelineItem {
  kind: 'created' | 'waiting' | NoteKind;
  at: number;
  /** The end of a wait; null for what has no length, and while the job waits. */
  until: number | null;
  phase: Phase | null;
  epoch: number | null;
  by: TimelineBy | null;
  reason: string | null;
  waitsFor: WaitsFor | null;
}
