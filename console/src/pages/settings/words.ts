import type { Role } from '../../session/roles.ts';

export const words = {
  tabs: 'Settings',
  /** The parts of the settings, as their tabs and pages are called. */
  part: {
    team: 'Team',
    members: 'Members',
    keys: 'API keys',
    enrolment: 'Enrolment',
    clients: 'Applications',
    webhook: 'Webhooks',
    revocations: 'Revocations',
    audit: 'Audit log',
    nodes: 'Control planes',
  },
  forInstallation: (email: string | null) =>
    `This page is for administrators of the installation. Whoever runs the server makes you one there: signalbox user installation-admin ${email ?? ''}`,
  thisPage: 'This page',
  forAdmins: (what: string, team: string, role: Role) =>
    `${what} is for administrators of ${team}. You are ${role === 'operator' ? 'an operator' : 'a viewer'}.`,
  ask: (admins: readonly string[]) => `Ask ${admins.join(' or ')}.`,
} as const;

/** What ends when the right behind it is taken away: docs/revoking.md. */
export const WHAT_ENDS =
  'At once: open forwards with their connections, terminals, event streams, jobs that have not begun, and campaigns. Jobs whose script has begun go on.';

/** How long a new key works. */
export const LIFETIMES = [
  { value: 'never', name: 'until it is revoked', days: null },
  { value: '30', name: '30 days', days: 30 },
  { value: '90', name: '90 days', days: 90 },
  { value: '365', name: 'one year', days: 365 },
] as const;
export type Lifetime = (typeof LIFETIMES)[number]['value'];

const DAY_MS = 86_400_000;

/** @returns undefined for a key without an end */
export function expiryOf(lifetime: Lifetime, now: number): string | undefined {
  const days = LIFETIMES.find(({ value }) => value === lifetime)?.days ?? null;
  return days === null ? undefined : new Date(now + days * DAY_MS).toISOString();
}

/** How long the old secret of two keeps working. At most seven days. */
export const OVERLAPS = [
  { value: '60', name: 'one hour' },
  { value: '1440', name: 'one day' },
  { value: '10080', name: 'seven days' },
  { value: '0', name: 'no longer: it ends at once' },
] as const;
export type Overlap = (typeof OVERLAPS)[number]['value'];
