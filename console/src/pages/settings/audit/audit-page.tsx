import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditEntry } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { shownZone } from '../../../parts/times.ts';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { useActors } from '../../../data/use-names.ts';
import { queryOf, readAuditSearch } from './search.ts';
import type { AuditSearch } from './search.ts';
import { useRecordNames } from './record-names.ts';
import { targetOf, withoutIds } from './target-words.ts';
import { actorOf, deedOf, outcomeOf, words } from './words.ts';

/** Beginnings of actions that people ask for. */
const ACTIONS = [
  { value: '', name: words.action.all },
  { value: 'login', name: words.action.signIns },
  { value: 'failed login', name: words.action.failedSignIns },
  { value: 'POST /api/synchronous', name: words.action.commands },
  { value: 'POST /api/asynchronous', name: words.action.jobs },
  { value: 'POST /api/campaigns', name: words.action.campaigns },
  { value: 'POST /api/routers/:router_id/transient-forwarding', name: words.action.forwards },
  { value: 'POST /api/api-keys', name: words.action.keys },
  { value: 'POST /api/members', name: words.action.invitations },
  { value: 'PATCH', name: words.action.changes },
  { value: 'DELETE', name: words.action.removals },
] as const;

/** Who did what, when, from where, and how it came out. */
export function AuditPage() {
  return (
    <SettingsPage name={settingsWords.part.audit} note={words.note}>
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
    <form className="asked-for" role="search" aria-label={words.filter.label} onSubmit={(event) => event.preventDefault()}>
      <label>
        {words.filter.who}
        <select className="control" value={actor} onChange={({ target }) => change({ actor: target.value })}>
          <option value="">{words.filter.everybody}</option>
          {actors.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {actor === '' || actors.some(({ id }) => id === actor) ? null : <option value={actor}>{actor}</option>}
        </select>
      </label>
      <label>
        {words.filter.what}
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
        {words.filter.from}
        <input className="control" type="date" value={from} onChange={({ target }) => change({ from: target.value })} />
      </label>
      <label>
        {words.filter.to}
        <input className="control" type="date" value={to} onChange={({ target }) => change({ to: target.value })} />
      </label>
      <span className="hint">{words.filter.days(shownZone())}</span>
      {actor + action + from + to === '' ? null : (
        <Link to="/settings/audit" search={{}} className="hand">
          {words.filter.clear}
        </Link>
      )}
    </form>
  );
}

function Entries() {
  const [search] = useFilter();
  const list = useList('audit', 'listAuditEntries', { query: { limit: 100, ...queryOf(search) } });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  const names = useRecordNames();
  return (
    <div className="log">
      <RecordTable<AuditEntry>
        label={words.table}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          { title: words.column.when, width: '84px', cell: ({ at }) => <Moment at={at} /> },
          { title: words.column.who, width: 'minmax(240px, 1.6fr)', className: 'el', cell: (entry) => <Sentence entry={entry} /> },
          {
            title: words.column.target,
            width: 'minmax(120px, 1.4fr)',
            className: 'el dim',
            cell: (entry) => <Target entry={entry} names={names} />,
          },
          { title: words.column.from, width: '120px', className: 'id dim el', isWide: true, cell: ({ source }) => source },
          { title: words.column.outcome, width: 'minmax(110px, 1fr)', className: 'el', cell: (entry) => <Outcome entry={entry} /> },
        ]}
        empty={
          isFiltered ? (
            <Empty title={words.noMatch.title}>{words.noMatch.text}</Empty>
          ) : (
            <Empty title={words.empty.title}>{words.empty.text}</Empty>
          )
        }
      />
    </div>
  );
}

function Sentence({ entry }: { entry: AuditEntry }) {
  return (
    <span title={`${actorOf(entry)} ${deedOf(entry.action, entry.result)} (${entry.action})`}>
      <b>{actorOf(entry)}</b> {deedOf(entry.action, entry.result)}
    </span>
  );
}

/** The router of the path as a link; otherwise what the entry says of its record. */
function Target({ entry: { action, target, detail }, names }: { entry: AuditEntry; names: ReadonlyMap<string, string> }) {
  const routerId = /^\/api\/(?:routers|asynchronous|synchronous)\/([0-9a-f-]{36})/.exec(target ?? '')?.[1];
  return (
    <span title={[target, detail].filter((part) => part !== null).join('\n')}>
      {routerId === undefined ? null : <RouterLink id={routerId} />}{' '}
      {detail === null ? (routerId === undefined ? targetOf(action, target, names) : null) : withoutIds(detail)}
    </span>
  );
}

function Outcome({ entry: { action, result } }: { entry: AuditEntry }) {
  const outcome = outcomeOf(action, result);
  if (outcome === undefined) return <span className="dim">{words.done}</span>;
  return (
    <span className="c-not" title={outcome}>
      {outcome}
    </span>
  );
}
