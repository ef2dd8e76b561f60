/** Names under which the event stream tells of these facts. Topics of older versions may have them. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  'fault.router_offline': ['router.offline'],
  'fault.agent_offline': ['agent.offline'],
};

/**
 * The entries of a topic that match a kind: the kind itself, `fault.*` and `*`. A final `*` matches every kind with that prefix, and only at
 * a dot.
 */
export function entriesFor(kind: string): string[] {
  const names = [kind, ...(OTHER_NAMES[kind] ?? []), ...(kind.startsWith('fault.') ? ['fault.opened'] : [])];
  return [...new Set([...names, ...names.flatMap(prefixesOf), '*'])];
}

function prefixesOf(name: string): string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`);
}

/** Whether a topic with these entries has this kind. */
export function hasKind(entries: readonly string[], kind: string): boolean {
  const matching = new Set(entriesFor(kind));
  return entries.some((entry) => matching.has(entry));
}
