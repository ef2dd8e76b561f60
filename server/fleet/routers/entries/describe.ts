import type { RouterHeartbeat } from '../presence.ts';
import type { AgentEntry } from '../types.ts';
import type { EntryReports } from './reports.ts';
import type { FewMap } from '../../../platform/core/few.ts';

interface Reported {
  ids: FewMap<string, string>;
  heartbeats: FewMap<string, RouterHeartbeat>;
  reports: EntryReports | undefined;
}

/** The entries that an agent has named on its present tunnel, with their state. */
export function describeEntries({ ids, heartbeats, reports }: Reported): AgentEntry[] {
  const duplicates = reports?.duplicates ?? [];
  const names = new Set([...ids.keys(), ...heartbeats.keys(), ...duplicates.map(({ name }) => name), ...(reports?.refused ?? [])]);
  const holders = new Map([...ids].map(([name, routerId]) => [routerId, name]));
  const hostOf = (name: string): string | null => reports?.hostOf(name) ?? null;
  const holderFor = (name: string): AgentEntry['duplicateOf'] => {
    const routerId = reports?.duplicateAt(name)?.routerId;
    const holder = routerId === undefined ? undefined : holders.get(routerId);
    return routerId === undefined || holder === undefined ? null : { name: holder, host: hostOf(holder), routerId };
  };
  return [...names].map((name) => {
    const heartbeat = heartbeats.get(name);
    const duplicateOf = holderFor(name);
    const reason = heartbeat?.reason ?? reports?.refusalAt(name) ?? (duplicateOf ? 'duplicate_serial' : null);
    return { name, host: hostOf(name), routerId: ids.get(name) ?? null, reachable: heartbeat?.reachable ?? false, reason, duplicateOf };
  });
}
