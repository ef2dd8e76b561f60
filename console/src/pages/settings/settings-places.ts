import { linkOptions } from '@tanstack/react-router';
import type { Role } from '../../session/use-may.ts';

/** The parts of the settings, in their order, and the least role for each. */
export const SETTINGS = [
  { name: 'Team', role: 'viewer', link: linkOptions({ to: '/settings/team' }) },
  { name: 'Members', role: 'viewer', link: linkOptions({ to: '/settings/members' }) },
  { name: 'API keys', role: 'admin', link: linkOptions({ to: '/settings/keys' }) },
  { name: 'Revocations', role: 'admin', link: linkOptions({ to: '/settings/revocations' }) },
] as const satisfies readonly { name: string; role: Role; link: unknown }[];
