import { linkOptions } from '@tanstack/react-router';
import type { Me } from '../../../../client/browser.ts';
import { hasRole } from '../../session/roles.ts';
import type { Role } from '../../session/roles.ts';
import { words } from './words.ts';

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
  { name: words.part.team, role: 'viewer', link: linkOptions({ to: '/settings/team' }) },
  { name: words.part.members, role: 'viewer', link: linkOptions({ to: '/settings/members' }) },
  { name: words.part.keys, role: 'admin', link: linkOptions({ to: '/settings/keys' }) },
  { name: words.part.enrolment, role: 'admin', link: linkOptions({ to: '/settings/enrolment' }) },
  { name: words.part.clients, role: 'admin', link: linkOptions({ to: '/settings/clients' }) },
  { name: words.part.webhook, role: 'admin', link: linkOptions({ to: '/settings/webhook' }) },
  { name: words.part.revocations, role: 'admin', link: linkOptions({ to: '/settings/revocations' }) },
  { name: words.part.audit, role: 'admin', link: linkOptions({ to: '/settings/audit', search: {} }) },
  { name: words.part.nodes, role: 'viewer', isOfInstallation: true, link: linkOptions({ to: '/settings/nodes' }) },
] as const satisfies readonly Setting[];

export function isFor({ role, isOfInstallation }: Setting, me: Me): boolean {
  return hasRole(me.role, role) && (isOfInstallation !== true || me.installation_admin);
}
