import { EMPTY_DRAFT } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';

/** Where a script is written, and by whom: somebody else who signs in in this tab does not get it. */
export interface Desk {
  userId: string;
  page: 'run' | 'campaign';
  /** `ROUTER/JOB` whose script it began with. */
  from?: string | undefined;
}

/** By desk. Only this tab has them, and only until it is loaded anew: scripts hold passwords, which belong in no store. */
const kept = new Map<string, ScriptDraft>();

/** What was written there before the page was left, and not sent. */
export function keptDraft(desk: Desk): ScriptDraft | undefined {
  return kept.get(keyOf(desk));
}

/** @param first what the form began with: nothing is kept of a form in which nothing was written */
export function keepDraft(desk: Desk, draft: ScriptDraft, first: ScriptDraft): void {
  const isChanged = Object.keys(EMPTY_DRAFT).some((name) => draft[name as keyof ScriptDraft] !== first[name as keyof ScriptDraft]);
  if (isChanged) kept.set(keyOf(desk), draft);
  else dropDraft(desk);
}

export function dropDraft(desk: Desk): void {
  kept.delete(keyOf(desk));
}

function keyOf({ userId, page, from = '' }: Desk): string {
  return `${userId} ${page} ${from}`;
}
