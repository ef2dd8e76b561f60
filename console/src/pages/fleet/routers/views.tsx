import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { View } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { useViews } from '../../../data/use-views.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { CheckField, Outcome, TextField } from '../../../parts/form.tsx';
import { numberWords } from '../../../parts/sizes.ts';
import { useMay } from '../../../session/use-may.ts';
import { filterOf, readSearch } from './search.ts';
import type { RoutersSearch, SiteNames } from './search.ts';
import { words } from './words.ts';

/** Saved filters as tabs, each with how many routers it finds now. */
export function Views({ search, sites }: { search: RoutersSearch; sites: SiteNames }) {
  const { routers } = useFleet();
  const views = useViews();
  const [removed, setRemoved] = useState<View>();
  const mayChangeShared = useMay('operator');
  const isSaved = views.some((view) => isSame(view, search));
  return (
    <nav className="tabs views" aria-label={words.views.label}>
      <Link to="/routers" search={{}} {...current(search.q === undefined && !isSaved)}>
        {words.views.all} <span className="faint">{numberWords(routers.size)}</span>
      </Link>
      {views.map((view) => (
        <span key={view.id} className="view">
          <Link to="/routers" search={readSearch(view.query)} {...current(isSame(view, search))}>
            <span className="el view-name" title={view.name}>
              {view.name}
            </span>{' '}
            <Count q={readSearch(view.query).q ?? ''} sites={sites} />
          </Link>
          {isSame(view, search) && (mayChangeShared || !view.shared) ? (
            <button
              type="button"
              className="key"
              aria-label={words.views.remove(view.name)}
              title={words.views.removeThis}
              onClick={() => setRemoved(view)}
            >
              ×
            </button>
          ) : null}
        </span>
      ))}
      {removed ? (
        <Confirm
          title={words.removal.title(removed.name)}
          action={words.removal.remove}
          operation="deleteView"
          input={{ path: { view_id: removed.id } }}
          stale={['views']}
          onClose={() => setRemoved(undefined)}
        >
          <p>{removed.shared ? words.removal.shared : words.removal.own}</p>
        </Confirm>
      ) : null}
    </nav>
  );
}

function current(isCurrent: boolean): object {
  return isCurrent ? { className: 'on', 'aria-current': 'page', activeProps: {} } : { activeProps: { 'aria-current': undefined } };
}

function isSame({ query }: View, search: RoutersSearch): boolean {
  const saved = readSearch(query);
  return saved.q === search.q && (saved.sort ?? 'state') === (search.sort ?? 'state') && saved.cols === search.cols;
}

function Count({ q, sites }: { q: string; sites: SiteNames }) {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  const count = useMemo(() => {
    void version;
    return routers.values().filter(filterOf(q, sites)).length;
  }, [routers, version, q, sites]);
  return <span className="faint">{numberWords(count)}</span>;
}

/** What the address has. */
function savedOf(search: RoutersSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Asks for a name, and whose it shall be. */
export function SaveView({ search, onClose }: { search: RoutersSearch; onClose: () => void }) {
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const mayShare = useMay('operator');
  const write = useWrite('createView', ['views']);
  async function answered(result: Promise<unknown>): Promise<void> {
    if ((await result) !== undefined) onClose();
  }
  return (
    <Dialog title={words.save.title} isForAll onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answered(write.send({ body: { list: 'routers', name, query: savedOf(search), shared: mayShare && isShared } }));
        }}
      >
        <TextField label={words.save.name} name="name" value={name} onChange={setName} state={write.state} hint={words.save.nameHint} />
        {mayShare ? <CheckField label={words.save.shared} isChecked={isShared} onChange={setShared} /> : null}
        <Outcome state={write.state} fields={['name']} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.save.cancel}
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending' || name === ''}>
            {words.save.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
