import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import type { Agent } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { AppLink } from '../../../parts/app-link.tsx';
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

const TITLES: Record<AgentSort, string> = { sessions: 'sessions a day', away: 'away first', name: 'name', version: 'version' };

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
        title="Agents"
        sentence={query.data ? sentenceOf(all.length, away) : undefined}
        actions={
          mayConnect ? (
            <AppLink href="/agents/new" className="btn main-act">
              Connect an agent
            </AppLink>
          ) : undefined
        }
      />
      <FilterBox
        value={q}
        onChange={(text) =>
          void navigate({ search: ({ q: _q, ...before }) => (text === '' ? before : { ...before, q: text }), replace: true })
        }
        placeholder="Name or address"
        count={
          <>
            <b>{records.length}</b> of {all.length}
          </>
        }
      >
        <label className="order t2 dim">
          Order{' '}
          <select
            className="control"
            value={sort}
            onChange={({ target }) => void navigate({ search: (before) => ({ ...before, sort: target.value as AgentSort }) })}
          >
            {AGENT_SORTS.map((key) => (
              <option key={key} value={key}>
                {TITLES[key]}
              </option>
            ))}
          </select>
        </label>
      </FilterBox>
      <RecordTable
        label="Agents"
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={
          q === '' ? 'Agents that were enrolled would be here. An admin enrols one with a token.' : 'No agent matches. Shorten the filter.'
        }
      />
    </>
  );
}

function sentenceOf(all: number, away: number): React.ReactNode {
  if (all === 0) return 'No agent was enrolled yet.';
  if (all === 1 && away === 1) return <b>The agent is away.</b>;
  if (away === 0) return <b>{all === 1 ? 'The agent is connected.' : `All ${all} agents are connected.`}</b>;
  return (
    <>
      <b>
        {all - away} of {all} agents are connected.
      </b>{' '}
      {away} {away === 1 ? 'is' : 'are'} away.
    </>
  );
}

const COLUMNS: readonly Column<Agent>[] = [
  {
    title: 'State',
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
    title: 'Agent',
    width: 'minmax(120px, 1.2fr)',
    className: 'el',
    cell: ({ id, name }) => (
      <AppLink href={`/agents/${id}`} className="id b">
        {name}
      </AppLink>
    ),
  },
  { title: 'Since', width: '84px', className: 'dim', cell: ({ since }) => <Moment at={since} /> },
  {
    title: 'Sessions, 24 h',
    width: '104px',
    className: 'num',
    isWide: true,
    cell: ({ sessions_24h: count }) => (count >= FLAPPING ? <b className="c-away b">{count}, flapping</b> : count),
  },
  {
    title: 'Round trip',
    width: '84px',
    className: 'num dim',
    isWide: true,
    cell: ({ round_trip_ms: ms }) => (ms === null ? '' : `${Math.round(ms)} ms`),
  },
  { title: 'Routers', width: '66px', className: 'num', isWide: true, cell: ({ router_count: count }) => count },
  { title: 'From', width: 'minmax(100px, .8fr)', className: 'el id dim', cell: ({ address }) => address ?? '' },
  { title: 'Version', width: '76px', className: 'id dim', isWide: true, cell: ({ version }) => version ?? '' },
];
