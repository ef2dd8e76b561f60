import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useFleet, useRoutersVersion } from '../data/use-fleet.ts';
import { Lamp } from '../parts/lamp.tsx';
import type { RouterState } from '../parts/lamp.tsx';
import { numberWords } from '../parts/sizes.ts';
import { wordOf } from '../parts/state-words.ts';
import { words } from './words.ts';

const ORDER: readonly RouterState[] = ['answering', 'not_answering', 'agent_away', 'never_seen'];

/** How many routers are in which state: on every page at the same place. */
export function Shelf() {
  const counts = useStateCounts();
  return (
    <div className="shelf" role="group" aria-label={words.shelf}>
      {ORDER.map((state) => (
        <Link key={state} to="/routers" search={{ q: `state:${state}` }} className="lamp" title={`${counts[state]} ${wordOf(state)}`}>
          <Lamp state={state} />
          <b>{numberWords(counts[state])}</b>
          <span className="sr">{wordOf(state)}</span>
        </Link>
      ))}
    </div>
  );
}

export function useStateCounts(): Record<RouterState, number> {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  return useMemo(() => {
    void version;
    const counts: Record<RouterState, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
    for (const { state } of routers.values()) if (state !== null) counts[state] += 1;
    return counts;
  }, [routers, version]);
}
