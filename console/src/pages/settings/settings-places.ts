import { linkOptions } from '@tanstack/react-router';
import type { Role } from '../../session/roles.ts';

/** The parts of the settings, in their order, and the least role for each. */
export const SETTINGS = [
  { name: 'Team', role: 'viewer', link: linkOptions({ to: '/settings/team' }) },
  { name: 'Members', role: 'viewer', link: linkOptions({ to: '/settings/members' }) },
  { name: 'API keys', role: 'admin', link: linkOptions({ to: '/settings/keys' }) },
  { name: 'Enrolment', role: 'admin', link: linkOptions({ to: '/settings/enrolment' }) },
  { name: 'Applications', role: 'admin', link: linkOptions({ to: '/settings/clients' }) },
  { name: 'Webhooks', role: 'admin', link: linkOptions({ to: '/settings/webhook' }) },
  { name: 'Revocations', role: 'admin', link: linkOptions({ to: '/settings/revocations' }) },
  { name: 'Audit log', role: 'admin', link: linkOptions({ to: '/settings/audit', search: {} }) },
] as const satisfies readonly { name: string; role: Role; link: unknown }[];
