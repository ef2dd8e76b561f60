import { useDeferredValue, useMemo } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { fill } from '../../../parts/fill.tsx';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { StateOf } from '../../../parts/lamp.tsx';
import { filterOf } from '../../fleet/routers/search.ts';
import type { SiteNames } from '../../fleet/routers/search.ts';
import { SiteNamesFailed } from '../../fleet/routers/site-names-failed.tsx';
import { useReadSiteNames } from '../../fleet/routers/use-filtered.ts';
import { useChosen } from './chosen.ts';
import { ALL, mayChoose, wrongFilter } from './filter-wrong.ts';
import { RouterNames } from './router-names.tsx';
import { routersNamed } from './named.ts';
import type { RunSearch } from './search.ts';
import { words } from './words.ts';

const NO_SITES: SiteNames = new Map();

export interface Targets {
  routers: readonly Router[];
  missing: readonly string[];
  /** Whether anything was chosen: a filter that matches nothing was. */
  isChosen: boolean;
  /** The routers stay these, whatever the fleet does meanwhile. */
  isFixed: boolean;
}

/**
 * The routers that a list handed over, or that the address chooses by names or by a filter. What a filter finds changes with the fleet until
 * the work is sent.
 */
export function useTargets({ routers: named, q }: RunSearch): Targets {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  const { data: sites } = useReadSiteNames();
  const asked = useDeferredValue(q);
  const chosen = useChosen();
  return useMemo(() => {
    void version;
    if (chosen !== undefined) {
      const found = chosen.map((id) => routers.get(id));
      const missing = chosen.filter((_id, index) => found[index] === undefined);
      return { routers: found.filter((router) => router !== undefined), missing, isChosen: true, isFixed: true };
    }
    if (named !== undefined) return { ...routersNamed(named, routers.values()), isChosen: true, isFixed: true };
    if (asked === undefined) return { routers: [], missing: [], isChosen: false, isFixed: false };
    if (asked.trim() === ALL) return { routers: routers.values(), missing: [], isChosen: true, isFixed: false };
    const found = mayChoose(asked, sites) ? routers.values().filter(filterOf(asked, sites ?? NO_SITES)) : [];
    return { routers: found, missing: [], isChosen: true, isFixed: false };
  }, [routers, version, chosen, named, asked, sites]);
}

/** Shown of a choice; the count says how many there are. */
const SHOWN = 6;

interface Props {
  targets: Targets;
  search: RunSearch;
  onChange: (change: { q?: string | undefined; routers?: string | undefined }) => void;
}

/** Which routers: the filter, how many it matches, by name, and how many of them answer now. */
export function TargetPicker({ targets, search, onChange }: Props) {
  const { routers: all } = useFleet();
  const { routers, missing, isChosen, isFixed } = targets;
  const { data: sites } = useReadSiteNames();
  // What follows was found with it: while that is on its way, an old number says nothing of a new filter.
  const q = useDeferredValue(search.q);
  const answering = routers.filter(({ state }) => state === 'answering').length;
  return (
    <div className="targets">
      {!isFixed ? (
        <FilterBox
          value={search.q ?? ''}
          onChange={(text) => onChange({ q: text === '' ? undefined : text })}
          placeholder={words.targets.filter}
          hint={words.targets.filterHint}
          wrong={wrongFilter(q ?? '', routers.length, sites)}
          count={fill(words.targets.count, { count: <b>{routers.length.toLocaleString('en')}</b>, all: all.size.toLocaleString('en') })}
        />
      ) : (
        <RouterNames routers={routers} most={SHOWN}>
          <button type="button" className="btn quiet sm" onClick={() => onChange({ q: search.q })}>
            {words.targets.others}
          </button>
        </RouterNames>
      )}
      {isFixed ? null : <SiteNamesFailed />}
      {isFixed || routers.length === 0 ? null : <RouterNames routers={routers} most={SHOWN} />}
      {missing.length === 0 ? null : (
        <p className="hint c-not" role="alert">
          {words.targets.missing(missing.slice(0, 3), missing.length - 3)}
        </p>
      )}
      {routers.length === 1 ? (
        <p>
          <StateOf state={routers[0]!.state} reason={routers[0]!.state_reason} />
        </p>
      ) : null}
      {routers.length > 1 ? (
        <p className="dim">
          {answering === routers.length ? words.targets.allAnswer : words.targets.someAnswer(answering.toLocaleString('en'))}{' '}
          {isFixed ? words.targets.isFixed : words.targets.becomesFixed}
        </p>
      ) : null}
      {isFixed || search.chosen === undefined || search.chosen === routers.length ? null : (
        <p className="hint caution" role="alert">
          {words.targets.filterOnly(search.chosen, routers.length.toLocaleString('en'))}
        </p>
      )}
      {isFixed || routers.length > 0 || all.size === 0 ? null : (
        <p className="chosen dim">
          {isChosen ? null : words.targets.choose}
          <button type="button" className="btn sm" onClick={() => onChange({ q: ALL })}>
            {words.filter.all(all.size)}
          </button>
        </p>
      )}
    </div>
  );
}
