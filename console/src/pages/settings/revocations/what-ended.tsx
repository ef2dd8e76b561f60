import { useQuery } from '@tanstack/react-query';
import { useFleet } from '../../../data/use-fleet.ts';
import { reportOf, words } from './words.ts';

/** Until a revocation is settled, something accepted just before may still end, milliseconds. */
const LOOK_AGAIN_MS = 3000;

/** What a revocation of a moment ago ended, and what goes on. */
export function WhatEnded({ subjectId, title }: { subjectId: string; title: string }) {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['revocations', subjectId],
    queryFn: async () => {
      const { data: list } = await api.call('listRevocations', { query: { limit: 50 } });
      return list.find(({ subject_id: id }) => id === subjectId) ?? null;
    },
    refetchInterval: ({ state }) => (state.data?.settled === true ? false : LOOK_AGAIN_MS),
  });
  return (
    <p role="status">
      <b>{title}.</b> <span className="dim">{data ? reportOf(data) : words.lookedUp}</span>
    </p>
  );
}
