import { useQuery } from '@tanstack/react-query';
import type { HistoryItem } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Lamp, isRouterState } from '../../../parts/lamp.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { exactTime, lengthOf, shortTime } from '../../../parts/times.ts';

/** Lines that are read at once; older ones are in the API. */
const LINES = 50;

/** What happened to a router and what was done with it, on one axis, newest first. */
export function History({ routerId }: { routerId: string }) {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['history', routerId],
    queryFn: async () => (await api.call('listRouterHistory', { path: { router_id: routerId }, query: { limit: LINES } })).data,
  });
  return (
    <section>
      <div className="h2">
        <h2>History</h2>
        <small>one axis, newest first</small>
      </div>
      {data?.map((item) => (
        <Line key={`${item.kind} ${item.id}`} item={item} />
      ))}
      {data?.length === 0 ? <p className="empty">Nothing has happened yet.</p> : null}
    </section>
  );
}

function Line({ item: { kind, at, until, status, title, by } }: { item: HistoryItem }) {
  return (
    <div className="line happened">
      <time dateTime={at} title={exactTime(at)} className="dim">
        {shortTime(at)}
      </time>
      <span>{kind === 'state' && isRouterState(status) ? <Lamp state={status} /> : null}</span>
      <span className="el">
        <b>{kind === 'state' ? wordOf(status) : kind}</b> {kind === 'state' ? null : title}
        {kind === 'state' || kind === 'action' ? null : <span className="dim">, {wordOf(status)}</span>}
      </span>
      <span className="num dim">{by ?? (until === null ? '' : lengthOf(Date.parse(until) - Date.parse(at)))}</span>
    </div>
  );
}
