import type { NewNotice } from '../../../platform/notices/types.ts';
import type { ConfigChange } from '../types.ts';

/** What people are told of a changed configuration. Without line counts when the two exports could not be compared. */
export function configNotice({ to, lines }: ConfigChange): NewNotice {
  return {
    teamId: to.team_id,
    kind: 'config.changed',
    phase: 'info',
    severity: 'info',
    key: `router:${to.router_id}:config`,
    recordId: to.id,
    version: 0,
    routerId: to.router_id,
    at: to.created_at,
    data: { lines_added: lines?.added ?? null, lines_removed: lines?.removed ?? null },
  };
}
