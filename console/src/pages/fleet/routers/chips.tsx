import { useMemo } from 'react';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { Lamp } from '../../../parts/lamp.tsx';
import type { RouterState } from '../../../parts/lamp.tsx';
import { withoutWord } from '../../../parts/filter-words.ts';
import { wordOf } from '../../../parts/state-words.ts';
import { sayWord, wordsOf } from './search.ts';
import type { SiteNames } from './search.ts';
import { words } from './words.ts';

const ORDER: readonly RouterState[] = ['answering', 'not_answering', 'agent_away', 'never_seen'];

interface Props {
  q: string;
  ids: readonly string[];
  sites: SiteNames;
  onChange: (q: string) => void;
}

/** The words of the filter, each with a way to take it out, and the states of what it finds. */
export function Chips({ q, ids, sites, onChange }: Props) {
  const asked = wordsOf(q);
  if (asked.length === 0) return null;
  return (
    <div className="chips">
      {asked.map((word) => {
        const { subject, said } = sayWord(word, sites);
        return (
          <button
            key={`${word.at} ${word.text}`}
            type="button"
            className="chip"
            aria-label={words.chips.without(subject, said)}
            onClick={() => onChange(withoutWord(q, word))}
          >
            {subject}{' '}
            <b className="el" title={said}>
              {said}
            </b>{' '}
            <span aria-hidden="true">×</span>
          </button>
        );
      })}
      <button type="button" className="btn quiet sm" onClick={() => onChange('')}>
        {words.chips.clear}
      </button>
      <InView ids={ids} />
    </div>
  );
}

function InView({ ids }: { ids: readonly string[] }) {
  const counts = useCounts(ids);
  return (
    <span className="in-view m-no">
      {ORDER.map((state) => (
        <span key={state} className="lamp" title={`${counts[state]} ${wordOf(state)}`}>
          <Lamp state={state} size={10} /> {counts[state]} <span className="sr">{wordOf(state)}</span>
        </span>
      ))}
      <span className="faint">{words.chips.inView}</span>
    </span>
  );
}

export function useCounts(ids: readonly string[]): Record<RouterState, number> {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  return useMemo(() => {
    void version;
    const counts: Record<RouterState, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
    for (const id of ids) {
      const state = routers.get(id)?.state;
      if (state) counts[state] += 1;
    }
    return counts;
  }, [routers, version, ids]);
}
