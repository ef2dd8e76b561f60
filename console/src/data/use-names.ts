import { useQuery } from '@tanstack/react-query';
import type { Terminal } from '../../../client/browser.ts';
import { useFleet } from './use-fleet.ts';

export interface Actor {
  id: string;
  /** A member's address, or `key NAME`. */
  name: string;
}

const NOBODY: readonly Actor[] = [];

/** Who may act in the team: members, then, for administrators, keys, also ended ones. */
export function useActors(): readonly Actor[] {
  const { api, me } = useFleet();
  const seesKeys = me.role === 'admin';
  const { data } = useQuery({
    queryKey: ['api-keys', 'actors', seesKeys],
    queryFn: async (): Promise<readonly Actor[]> => {
      const [members, keys] = await Promise.all([api.all('listMembers', {}), seesKeys ? api.all('listApiKeys', {}) : []]);
      return [...members.map(({ id, email }) => ({ id, name: email })), ...keys.map(({ id, name }) => ({ id, name: `key ${name}` }))];
    },
  });
  return data ?? NOBODY;
}

/** Names for ids of those who act; somebody who left the team stays an id. */
export function useNames(): (id: string | null) => string {
  const actors = useActors();
  return (id) => (id === null ? "the server's operator" : (actors.find((actor) => actor.id === id)?.name ?? id));
}

/** Who opened a terminal. Only administrators see the names of keys. */
export function useOpeners(): (terminal: Pick<Terminal, 'opened_by' | 'opened_by_kind'>) => string {
  const { me } = useFleet();
  const actors = useActors();
  return ({ opened_by: id, opened_by_kind: kind }) => {
    if (id === me.id) return 'you';
    return actors.find((actor) => actor.id === id)?.name ?? (kind === 'user' ? 'somebody who has left' : 'an API key');
  };
}
