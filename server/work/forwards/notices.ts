import type { NewNotice } from '../../platform/notices/types.ts';
import type { ForwardRecord } from './types.ts';

/** What people are told of a forward. `lost` opens; its way found again, or its end, resolves. */
export function forwardNotice(
  { id, team_id: teamId, router_id: routerId, dst_address: address, dst_port: port, way_reason: reason }: ForwardRecord,
  what: 'created' | 'lost' | 'found' | 'closed',
  now: number,
): NewNotice {
  const isLoss = what === 'lost' || what === 'found';
  return {
    teamId,
    kind: isLoss ? 'forward.lost' : `forward.${what}`,
    phase: what === 'lost' ? 'open' : what === 'found' ? 'resolve' : 'info',
    severity: isLoss ? 'warning' : 'info',
    key: `forward:${id}`,
    // A loss has an end of its own.
    recordId: isLoss ? `${id} lost` : id,
    version: now,
    routerId,
    at: now,
    data: { target: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`, reason: what === 'lost' ? reason : null },
  };
}
