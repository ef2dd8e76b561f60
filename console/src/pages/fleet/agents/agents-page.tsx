import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import type { Agent } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { useMay } from '../../../session/use-may.ts';
import { AGENT_SORTS, agentsInOrder, FLAPPING, wordOfAgent } from './agents.ts';
import type { AgentSort } from './agents.ts';
import { words } from './words.ts';

/** Every agent of the team: connected or away, how often it connected in a day, and how good its line is. */
export function AgentsPage() {
  const { sort = 'away', q = '' } = useSearch({ from: '/agents' });
  const navigate = useNavigate({ from: '/agents' });
  const { api } = useFleet();
  const mayConnect = useMay('admin');
  const query = useQuery({ queryKey: ['agents', 'all'], queryFn: () => api.all('listAgents', {}) });
  const all = (query.data ?? []).filter(({ revoked_at: revoked, removed_at: removed }) => revoked === null && removed === null);
  const records = agentsInOrder(
    all.filter(({ name, address }) => `${name} ${address ?? ''}`.toLowerCase().includes(q.toLowerCase())),
    sort,
  );
  const list = {
    records,
    total: records.length,
    isTotalExact: true,
    isFirst: query.isPending,
    error: query.error,
    hasMore: false,
    readMore: () => undefined,
  };
  const away = all.filter(({ connected }) => !connected).length;
  return (
    <>
      <PageHead
        title={words.title}
        sentence={query.data ? sentenceOf(all.length, away) : undefined}
        actions={
          mayConnect ? (
            <AppLink href="/agents/new" className="btn main-act">
              {words.connect}
            </AppLink>
          ) : undefined
        }
      />
      <FilterBox
        value={q}
        onChange={(text) =>
          void navigate({ search: ({ q: _q, ...before }) => (text === '' ? before : { ...before, q: text }), replace: true })
        }
        placeholder={words.filter}
        count={fill(words.found, { shown: <b>{records.length}</b>, all: all.length })}
      >
        <label className="order t2 dim">
          {words.order}{' '}
          <select
            className="control"
            value={sort}
            onChange={({ target }) => void navigate({ search: (before) => ({ ...before, sort: target.value as AgentSort }) })}
          >
            {AGENT_SORTS.map((key) => (
              <option key={key} value={key}>
                {words.orders[key]}
              </option>
            ))}
          </select>
        </label>
      </FilterBox>
      <RecordTable label={words.title} columns={COLUMNS} list={list} keyOf={({ id }) => id} empty={q === '' ? words.none : words.noMatch} />
    </>
  );
}

function sentenceOf(all: number, away: number): React.ReactNode {
  if (all === 0) return words.sentence.none;
  if (all === 1 && away === 1) return <b>{words.sentence.onlyAway}</b>;
  if (away === 0) return <b>{words.sentence.all(all)}</b>;
  return (
    <>
      <b>{words.sentence.some(all - away, all)}</b> {words.sentence.away(away)}
    </>
  );
}

const COLUMNS: readonly Column<Agent>[] = [
  {
    title: words.columns.state,
    width: 'minmax(150px, 1fr)',
    className: 'el',
    cell: (agent) => (
      <span className="lamp">
        <Lamp state={agent.connected ? 'answering' : agent.since === null ? 'never_seen' : 'agent_away'} />
        <span>
          <span className={agent.connected ? 'dim' : 'c-away b'}>{wordOfAgent(agent)}</span>
          {agent.connected || agent.last_ended_by === null ? null : <span className="dim">, {wordOf(agent.last_ended_by)}</span>}
        </span>
      </span>
    ),
  },
  {
    title: words.columns.agent,
    width: 'minmax(120px, 1.2fr)',
    className: 'el',
    cell: ({ id, name }) => (
      <AppLink href={`/agents/${id}`} className="id b">
        {name}
      </AppLink>
    ),
  },
  { title: words.columns.since, width: '84px', className: 'dim', cell: ({ since }) => <Moment at={since} /> },
  {
    title: words.columns.sessions,
    width: '104px',
    className: 'num',
    isWide: true,
    cell: ({ sessions_24h: count }) => (count >= FLAPPING ? <b className="c-away b">{words.flapping(count)}</b> : count),
  },
  {
    title: words.columns.trip,
    width: '84px',
    className: 'num dim',
    isWide: true,
    cell: ({ round_trip_ms: ms }) => (ms === null ? '' : words.trip(Math.round(ms))),
  },
  { title: words.columns.routers, width: '66px', className: 'num', isWide: true, cell: ({ router_count: count }) => count },
  { title: words.columns.from, width: 'minmax(100px, .8fr)', className: 'el id dim', cell: ({ address }) => address ?? '' },
  { title: words.columns.version, width: '76px', className: 'id dim', isWide: true, cell: ({ version }) => version ?? '' },
];
