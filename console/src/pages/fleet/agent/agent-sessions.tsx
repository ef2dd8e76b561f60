import type { AgentSession } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Moment } from '../../../parts/moment.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { Section } from '../../../parts/section.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { lengthOf } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { words } from './words.ts';
import './agent.css';

const HOUR_MS = 3_600_000;

/** The sessions of an agent, newest first, each as a bar in the last hours or days. */
export function AgentSessions({ agentId, hours }: { agentId: string; hours: number }) {
  const list = useList('sessions', 'listAgentSessions', { path: { agent_id: agentId }, query: { limit: 100 } });
  const now = useNow(15_000);
  const from = now - hours * HOUR_MS;
  return (
    <Section title={words.sessions.title} small={words.sessions.order}>
      <div className="tab-body">
        <RecordTable
          label={words.sessions.label}
          columns={columnsOf({ from, to: now })}
          list={list}
          keyOf={({ id }) => id}
          empty={words.sessions.none}
        />
      </div>
    </Section>
  );
}

function columnsOf(span: { from: number; to: number }): readonly Column<AgentSession>[] {
  return [
    { title: words.sessions.columns.opened, width: '76px', className: 'dim', cell: ({ opened_at: at }) => <Moment at={at} /> },
    {
      title: words.sessions.columns.end,
      width: 'minmax(150px, 1.4fr)',
      className: 'el',
      cell: ({ ended_by: end, reset }) => (
        <>
          {end === null ? <b className="b">{words.sessions.open}</b> : wordOf(end)}
          {reset ? <span className="dim">{words.sessions.reset}</span> : null}
        </>
      ),
    },
    { title: words.sessions.columns.bar, width: 'minmax(48px, 2fr)', isWide: true, cell: (session) => <Bar session={session} {...span} /> },
    {
      title: words.sessions.columns.length,
      width: '60px',
      className: 'num dim',
      isWide: true,
      cell: ({ opened_at: at, closed_at: until }) => lengthOf((until === null ? span.to : Date.parse(until)) - Date.parse(at)),
    },
    {
      title: words.sessions.columns.from,
      width: 'minmax(104px, .8fr)',
      className: 'el id dim',
      isWide: true,
      cell: ({ address }) => address,
    },
    {
      title: words.sessions.columns.version,
      width: '56px',
      className: 'id dim',
      isWide: true,
      cell: ({ agent_version: version }) => version ?? '',
    },
    { title: words.sessions.columns.epoch, width: '50px', className: 'num dim', isWide: true, cell: ({ epoch }) => epoch ?? '' },
    {
      title: words.sessions.columns.trip,
      width: '66px',
      className: 'num dim',
      isWide: true,
      cell: ({ round_trip_ms: trip }) => (trip === null ? '' : words.sessions.trip(Math.round(trip.p50))),
    },
    {
      title: words.sessions.columns.lost,
      width: '34px',
      className: 'num dim',
      isWide: true,
      cell: ({ pings_lost: lost }) => (lost === 0 ? '' : lost),
    },
  ];
}

/** Where in the time a session was; those before it have no bar. */
function Bar({ session, from, to }: { session: AgentSession; from: number; to: number }) {
  const opened = Math.max(Date.parse(session.opened_at), from);
  const closed = session.closed_at === null ? to : Date.parse(session.closed_at);
  if (closed < from) return null;
  const percent = (at: number): string => `${((at - from) / (to - from)) * 100}%`;
  return (
    <span className="session-bar" aria-hidden="true">
      <i style={{ left: percent(opened), width: percent(closed - opened + from) }} />
    </span>
  );
}
