import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditEntry } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import { shownZone } from '../../../parts/times.ts';
import { SettingsPage } from '../settings-page.tsx';
import { useActors } from '../../../data/use-names.ts';
import { queryOf, readAuditSearch } from './search.ts';
import type { AuditSearch } from './search.ts';
import { actorOf, deedOf, outcomeOf } from './words.ts';

/** Beginnings of actions that people ask for. */
const ACTIONS = [
  { value: '', name: 'everything' },
  { value: 'login', name: 'sign-ins' },
  { value: 'failed login', name: 'failed sign-ins' },
  { value: 'POST /api/synchronous', name: 'commands' },
  { value: 'POST /api/asynchronous', name: 'jobs' },
  { value: 'POST /api/campaigns', name: 'campaigns' },
  { value: 'POST /api/routers/:router_id/transient-forwarding', name: 'forwards' },
  { value: 'POST /api/api-keys', name: 'keys made and rotated' },
  { value: 'POST /api/members', name: 'invitations and password links' },
  { value: 'PATCH', name: 'changes' },
  { value: 'DELETE', name: 'removals and revocations' },
] as const;

/** Who did what, when, from where, and how it came out. */
export function AuditPage() {
  return (
    <SettingsPage
      name="Audit log"
      note="Every request that may change something, also one that was refused, and every sign-in. Nobody can change the log."
    >
      <Filter />
      <Entries />
    </SettingsPage>
  );
}

/** The filter of the address, and how to change it: an empty value leaves it. */
function useFilter(): [AuditSearch, (change: AuditSearch) => void] {
  const search = useSearch({ from: '/settings/audit' });
  const navigate = useNavigate({ from: '/settings/audit' });
  return [search, (change) => void navigate({ search: (before) => readAuditSearch({ ...before, ...change }), replace: true })];
}

function Filter() {
  const [{ actor = '', action = '', from = '', to = '' }, change] = useFilter();
  const actors = useActors();
  const known = ACTIONS.some(({ value }) => value === action);
  return (
    <form className="asked-for" role="search" aria-label="Audit log" onSubmit={(event) => event.preventDefault()}>
      <label>
        Who
        <select className="control" value={actor} onChange={({ target }) => change({ actor: target.value })}>
          <option value="">everybody</option>
          {actors.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {actor === '' || actors.some(({ id }) => id === actor) ? null : <option value={actor}>{actor}</option>}
        </select>
      </label>
      <label>
        What
        <select className="control" value={action} onChange={({ target }) => change({ action: target.value })}>
          {ACTIONS.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
          {known ? null : <option value={action}>{action}</option>}
        </select>
      </label>
      <label>
        From
        <input className="control" type="date" value={from} onChange={({ target }) => change({ from: target.value })} />
      </label>
      <label>
        To
        <input className="control" type="date" value={to} onChange={({ target }) => change({ to: target.value })} />
      </label>
      <span className="hint">Days of {shownZone()}</span>
      {actor + action + from + to === '' ? null : (
        <Link to="/settings/audit" search={{}} className="hand">
          Clear
        </Link>
      )}
    </form>
  );
}

function Entries() {
  const [search] = useFilter();
  const list = useList('audit', 'listAuditEntries', { query: { limit: 100, ...queryOf(search) } });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <div className="log">
      <RecordTable<AuditEntry>
        label="Audit log"
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: 'When', width: '84px', cell: ({ at }) => <Moment at={at} /> },
          { title: 'Who did what', width: 'minmax(220px, 2fr)', className: 'el', cell: (entry) => <Sentence entry={entry} /> },
          { title: 'Of what', width: 'minmax(120px, 1.4fr)', className: 'el dim', isWide: true, cell: (entry) => <Target entry={entry} /> },
          { title: 'From', width: '120px', className: 'id dim el', isWide: true, cell: ({ source }) => source },
          {
            title: 'Outcome',
            width: 'minmax(90px, 1fr)',
            className: 'el',
            isWide: true,
            cell: ({ result }) => <Outcome result={result} />,
          },
        ]}
        empty={
          isFiltered ? (
            <Empty title="Nothing matches.">Choose a longer time, or everybody.</Empty>
          ) : (
            <Empty title="Nothing has happened yet.">Whoever changes something, or signs in, is listed here.</Empty>
          )
        }
      />
    </div>
  );
}

function Sentence({ entry }: { entry: AuditEntry }) {
  return (
    <span title={entry.action}>
      <b>{actorOf(entry)}</b> {deedOf(entry.action)}
    </span>
  );
}

/** As people write it: `device DC:A6:32:3D:B9:04`, not its address in the interface. That of a whole list says no more than the sentence. */
function plainTarget(target: string | null): string | null {
  if (/^\/(?:api|arp)\/[a-z-]+$/.test(target ?? '')) return null;
  const mac = /^\/arp\/devices\/([0-9a-f:%]+)$/i.exec(target ?? '')?.[1];
  return mac === undefined ? target : `device ${mac.replaceAll(/%3a/gi, ':')}`;
}

/** The router of the path as a link; otherwise what the entry says of its record. */
function Target({ entry: { target, detail } }: { entry: AuditEntry }) {
  const routerId = /^\/api\/(?:routers|asynchronous|synchronous)\/([0-9a-f-]{36})/.exec(target ?? '')?.[1];
  return (
    <span title={target ?? undefined}>
      {routerId === undefined ? null : (
        <Link to="/routers/$routerId" params={{ routerId }} className="hand">
          router
        </Link>
      )}{' '}
      {detail ?? (routerId === undefined ? plainTarget(target) : null)}
    </span>
  );
}

function Outcome({ result }: { result: number }) {
  const outcome = outcomeOf(result);
  return outcome === undefined ? <span className="dim">done</span> : <span className="c-not">{outcome}</span>;
}
