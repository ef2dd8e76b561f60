/** Which routers something is to be done with. `all`: everything that the filter finds, also what it finds later. */
export type Selection = { kind: 'none' } | { kind: 'all' } | { kind: 'some'; ids: ReadonlySet<string> };

export const NONE: Selection = { kind: 'none' };

export function isSelected(selection: Selection, id: string): boolean {
  return selection.kind === 'all' || (selection.kind === 'some' && selection.ids.has(id));
}

/** @param filtered ids that the filter finds now */
export function selectedOf(selection: Selection, filtered: readonly string[]): readonly string[] {
  if (selection.kind === 'none') return [];
  return selection.kind === 'all' ? filtered : filtered.filter((id) => selection.ids.has(id));
}

/**
 * One ticked or unticked by hand. Taking one out of all leaves the others, as they are found now. The result is never `all`, which would
 * grow when the filter is cleared: only the box in the head asks for that.
 */
export function toggled(selection: Selection, id: string, filtered: readonly string[]): Selection {
  const ids = new Set(selectedOf(selection, filtered));
  if (ids.has(id)) ids.delete(id);
  else ids.add(id);
  return ids.size === 0 ? NONE : { kind: 'some', ids };
}
