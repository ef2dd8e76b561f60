import { linkOptions } from '@tanstack/react-router';
import type { Me } from '../../../../client/browser.ts';
import { hasRole } from '../../session/roles.ts';
import type { Role } from '../../session/roles.ts';

interface Setting {
  name: string;
  /** The least role. */
  role: Role;
  /** Only for administrators of the installation, whatever their role. */
  isOfInstallation?: true;
  link: unknown;
}

/** The parts of the settings, in their order, and for whom each is. */
export const SETTINGS = [
  { name: 'Team', role: 'viewer', link: linkOptions({ to: '/settings/team' }) },
  { name: 'Members', role: 'viewer', link: linkOptions({ to: '/settings/members' }) },
  { name: 'API keys', role: 'admin', link: linkOptions({ to: '/settings/keys' }) },
  { name: 'Enrolment', role: 'admin', link: linkOptions({ to: '/settings/enrolment' }) },
  { name: 'Applications', role: 'admin', link: linkOptions({ to: '/settings/clients' }) },
  { name: 'Webhooks', role: 'admin', link: linkOptions({ to: '/settings/webhook' }) },
  { name: 'Revocations', role: 'admin', link: linkOptions({ to: '/settings/revocations' }) },
  { name: 'Audit log', role: 'admin', link: linkOptions({ to: '/settings/audit', search: {} }) },
  { name: 'Control planes', role: 'viewer', isOfInstallation: true, link: linkOptions({ to: '/settings/nodes' }) },
] as const satisfies readonly Setting[];

export function isFor({ role, isOfInstallation }: Setting, me: Me): boolean {
  return hasRole(me.role, role) && (isOfInstallation !== true || me.installation_admin);
}
