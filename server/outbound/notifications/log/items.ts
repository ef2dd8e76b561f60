import { dataOf, nameOfThread, text } from '../messages/view/subject.ts';
import type { Facts } from '../messages/view/subject.ts';
import type { ItemRow, ThreadRow } from '../threads/types.ts';
import type { ListedItem } from './types.ts';

/** What is in a thread, as it is listed. Pure. */

export function itemOfRecord(item: ItemRow, { names }: Facts): ListedItem {
  const data = dataOf(item);
  const router = item.router_id === null ? undefined : names.routers.get(item.router_id);
  const agent = item.agent_id === null ? undefined : names.agents.get(item.agent_id);
  const description = text(data['description']);
  return {
    id: item.record_id,
    type: 'record',
    kind: item.kind,
    severity: item.severity,
    routerId: item.router_id,
    agentId: item.agent_id,
    siteId: router?.siteId ?? null,
    name: router?.name ?? agent ?? (text(data['target']) || description),
    detail: text(data['cause']) || description,
    openedAt: item.opened_at,
    resolvedAt: item.resolved_at,
  };
}

/** @param subject of a thread in a digest: what happened */
export function itemOfThread(child: ThreadRow, facts: Facts, subject = ''): ListedItem {
  const hasName = child.router_id !== null || child.agent_id !== null || child.kind === 'site';
  return {
    id: child.id,
    type: 'thread',
    kind: child.kind,
    severity: child.severity,
    routerId: child.router_id,
    agentId: child.agent_id,
    siteId: child.site_id,
    name: hasName || subject === '' ? nameOfThread(facts, child) : subject,
    detail: hasName ? subject : '',
    openedAt: child.first_at,
    resolvedAt: child.ended_at,
  };
}
