import './routers.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import { CopyButton } from '../../../parts/copy.tsx';
import { fill } from '../../../parts/fill.tsx';
import { hasForeignWord } from '../../../parts/filter-words.ts';
import { numberWords } from '../../../parts/sizes.ts';
import { useMay } from '../../../session/use-may.ts';
import { Chips } from './chips.tsx';
import { ColumnsDialog } from './columns-dialog.tsx';
import { columnsOf } from './columns.ts';
import { Grid } from './grid.tsx';
import { Held } from './held.tsx';
import { readSearch, wordsOf } from './search.ts';
import type { RoutersSearch } from './search.ts';
import { NONE, selectedOf, toggled } from './selection.ts';
import type { Selection } from './selection.ts';
import { useTyped } from '../../../parts/use-typed.ts';
import { useStill } from '../../../parts/press.ts';
import { SiteNamesFailed } from './site-names-failed.tsx';
import { useFiltered, useSiteNames } from './use-filtered.ts';
import { SaveView, Views } from './views.tsx';
import { words } from './words.ts';

/** Every router of the team: one filter, one order, and only the rows in sight in the page. */
export function RoutersPage() {
  const search = useSearch({ from: '/routers' });
  const { sort = 'state' } = search;
  const navigate = useNavigate({ from: '/routers' });
  const [asked, setAsked] = useState<'save' | 'columns'>();
  const [selection, setSelection] = useState<Selection>(NONE);
  const [shown, setShown] = useState<readonly string[]>([]);
  const mayRun = useMay('operator');
  const change = (changed: RoutersSearch): void =>
    void navigate({ search: (before) => readSearch({ ...before, ...changed }), replace: !('sort' in changed), resetScroll: false });
  const [q, setQ] = useTyped(search.q ?? '', (text) => change({ q: text }));
  const sites = useSiteNames();
  const ids = useStill(useFiltered(q, sort, sites));
  // The rows get the same columns and the same function at every change, so that a change of one router renders one row.
  const columns = useMemo(() => columnsOf(search.cols), [search.cols]);
  const found = useRef(ids);
  useEffect(() => {
    found.current = ids;
  });
  const onToggle = useCallback((id: string) => setSelection((before) => toggled(before, id, found.current)), []);
  const selected = selectedOf(selection, ids);
  return (
    <>
      <div className="head">
        <h1>{words.title}</h1>
        <div className="acts">
          <button type="button" className="btn quiet m-no" onClick={() => setAsked('columns')}>
            {words.columns}
          </button>
          <CopyButton text={location.origin + location.pathname + location.search} label={words.address} isSaid />
          <button type="button" className="btn" onClick={() => setAsked('save')}>
            {words.saveView}
          </button>
        </div>
      </div>
      <Views search={search} sites={sites} />
      <Filter q={q} count={ids.length} onChange={setQ} />
      <SiteNamesFailed />
      <Chips q={q} ids={ids} sites={sites} onChange={setQ} />
      {ids.length === 0 ? (
        <NoRouters q={q} />
      ) : (
        <Grid
          {...{ ids, columns, sort, sites, selection, onToggle }}
          canSelect={mayRun}
          isTall={search.rows === 'tall'}
          onSort={(key) => change({ sort: key })}
          onToggleAll={() => setSelection(selection.kind === 'all' ? NONE : { kind: 'all' })}
          kept={keptOf(search)}
          onSight={selection.kind === 'all' ? setShown : undefined}
        />
      )}
      {mayRun && selected.length > 0 ? (
        <Held
          ids={selected}
          isAll={selection.kind === 'all'}
          q={q}
          shown={shown}
          onOnlyShown={() => setSelection({ kind: 'some', ids: new Set(shown) })}
          onClear={() => setSelection(NONE)}
        />
      ) : null}
      {asked === 'save' ? <SaveView search={search} onClose={() => setAsked(undefined)} /> : null}
      {asked === 'columns' ? <ColumnsDialog search={search} onChange={change} onClose={() => setAsked(undefined)} /> : null}
    </>
  );
}

/** The page of a router goes on with this filter and order. */
function keptOf({ q, sort }: RoutersSearch): string {
  const kept = new URLSearchParams({ ...(q === undefined ? {} : { q }), ...(sort === undefined ? {} : { sort }) });
  return kept.size === 0 ? '' : `?${kept.toString()}`;
}

function Filter({ q, count, onChange }: { q: string; count: number; onChange: (q: string) => void }) {
  const { routers } = useFleet();
  return (
    <div className="filter">
      <label className="fbox">
        <span className="sr">{words.filter.label}</span>
        <input
          type="search"
          value={q}
          placeholder={words.filter.hint}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
        <span className="t2 faint m-no">{words.filter.fields}</span>
      </label>
      <span className="count" role="status">
        {fill(words.filter.found, { shown: <b>{numberWords(count)}</b>, all: numberWords(routers.size) })}
      </span>
    </div>
  );
}

function NoRouters({ q }: { q: string }) {
  const { routers } = useFleet();
  const noMatch = hasForeignWord(wordsOf(q)) ? words.noMatchHow : words.noMatch;
  return <p className="empty">{routers.size === 0 ? words.none : noMatch}</p>;
}
