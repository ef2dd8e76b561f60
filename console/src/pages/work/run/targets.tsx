import { useDeferredValue, useMemo } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { StateOf } from '../../../parts/lamp.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { filterOf } from '../../fleet/routers/search.ts';
import { SiteNamesFailed } from '../../fleet/routers/site-names-failed.tsx';
import { useSiteNames } from '../../fleet/routers/use-filtered.ts';
import { countOf } from '../words.ts';
import { useChosen } from './chosen.ts';
import { routersNamed } from './search.ts';
import type { RunSearch } from './search.ts';

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
  const sites = useSiteNames();
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
    return { routers: routers.values().filter(filterOf(asked, sites)), missing: [], isChosen: true, isFixed: false };
  }, [routers, version, chosen, named, asked, sites]);
}

/** Shown of a choice; the count says how many there are. */
const SHOWN = 6;

interface Props {
  targets: Targets;
  search: RunSearch;
  onChange: (change: { q?: string | undefined; routers?: string | undefined }) => void;
}

/** Which routers: the filter, how many it matches, and how many of them answer now. */
export function TargetPicker({ targets, search, onChange }: Props) {
  const { routers: all } = useFleet();
  const { routers, missing, isChosen, isFixed } = targets;
  const answering = routers.filter(({ state }) => state === 'answering').length;
  return (
    <div className="targets">
      {!isFixed ? (
        <FilterBox
          value={search.q ?? ''}
          onChange={(text) => onChange({ q: text === '' ? undefined : text })}
          placeholder="Which routers: a name, state:answering, version:7.16"
          hint="state: site: model: version: agent: &nbsp; - excludes"
          count={
            <>
              <b>{routers.length.toLocaleString('en')}</b> of {all.size.toLocaleString('en')}
            </>
          }
        />
      ) : (
        <p className="chosen">
          {routers.slice(0, SHOWN).map(({ id }) => (
            <RouterLink key={id} id={id} />
          ))}
          {routers.length > SHOWN ? <span className="dim">and {countOf(routers.length - SHOWN, 'more router')}</span> : null}
          <button type="button" className="btn quiet sm" onClick={() => onChange({ q: search.q })}>
            Choose others
          </button>
        </p>
      )}
      {isFixed ? null : <SiteNamesFailed />}
      {missing.length === 0 ? null : (
        <p className="hint c-not" role="alert">
          Your team has no router {missing.slice(0, 3).join(', ')}
          {missing.length > 3 ? ` and ${missing.length - 3} more` : ''}.
        </p>
      )}
      {routers.length === 1 ? (
        <p>
          <StateOf state={routers[0]!.state} reason={routers[0]!.state_reason} />
        </p>
      ) : null}
      {routers.length > 1 ? (
        <p className="dim">
          {answering === routers.length ? 'All of them answer now.' : `${answering.toLocaleString('en')} of them answer now.`}
          {isFixed ? ' The list is fixed.' : ' The list is fixed when you send.'}
        </p>
      ) : null}
      {isFixed || search.chosen === undefined || search.chosen === routers.length ? null : (
        <p className="hint caution" role="alert">
          {countOf(search.chosen, 'router was', 'routers were')} selected; the address has their filter only, which finds{' '}
          {routers.length.toLocaleString('en')} now.
        </p>
      )}
      {isChosen || all.size === 0 ? null : <p className="dim">Write a name or a filter. Everything that it matches is meant.</p>}
    </div>
  );
}
