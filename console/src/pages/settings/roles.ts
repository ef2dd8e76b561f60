import type { Role } from '../../session/roles.ts';

/** Roles from the least to the most, as a choice. */
export const ROLE_OPTIONS: readonly { value: Role; name: string }[] = [
  { value: 'viewer', name: 'viewer: sees routers, jobs and notifications, changes nothing' },
  { value: 'operator', name: 'operator: also runs jobs, opens forwards, takes backups' },
  { value: 'admin', name: 'admin: also members, keys, agents, sites, recordings, audit log' },
];
