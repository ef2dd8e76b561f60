import type { Revocation } from '../../../../../client/browser.ts';

export const words = {
  note: 'When a right is taken away, what was opened with it ends. Here is what ended each time, and what goes on.',
  table: 'Revocations',
  column: { when: 'When', what: 'What', ended: 'What it ended' },
  empty: {
    title: 'Nothing was revoked yet.',
    text: 'Revoking a key, removing a member, a new password and revoking an agent are listed here, with what they ended.',
  },
  lookedUp: 'What it ended is being looked up.',
};

/** One and many of each kind. */
const KINDS: Record<string, readonly [string, string]> = {
  forwards: ['forward', 'forwards'],
  jobs: ['job', 'jobs'],
  campaigns: ['campaign', 'campaigns'],
  terminals: ['terminal', 'terminals'],
  api_keys: ['API key', 'API keys'],
};

type Some = Record<string, { count: number }>;

function listOf(some: Some): string {
  return Object.entries(some)
    .filter(([, { count }]) => count > 0)
    .map(([kind, { count }]) => `${count} ${KINDS[kind]![count === 1 ? 0 : 1]}`)
    .join(', ');
}

/** What a revocation ended, and what goes on, in a sentence or two. */
export function reportOf({ ended, goes_on: rest, settled }: Revocation): string {
  const ends = listOf(ended);
  const stays = listOf(rest);
  const first =
    ends === ''
      ? settled
        ? 'Nothing was open.'
        : 'Nothing was open. What was being opened at that moment is still looked for.'
      : `Ended: ${ends}.`;
  return stays === '' ? first : `${first} Goes on: ${stays}.`;
}

/** What was revoked. */
export const SUBJECTS: Record<Revocation['kind'], string> = {
  api_key: 'API key',
  member: 'member',
  password: 'password',
  client: 'application',
  agent: 'agent',
};
