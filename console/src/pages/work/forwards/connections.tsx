import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { TransientForward } from '../../../../../client/browser.ts';
import { useEvents, useFleet } from '../../../data/use-fleet.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { sizeOf } from '../../../parts/sizes.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { endWords, words } from './words.ts';

/** The newest of them are read. */
const READ = 50;

/** Who connected, how much went through, and how each ended. */
export function Connections({ forward }: { forward: TransientForward }) {
  const { api } = useFleet();
  const queries = useQueryClient();
  const queryKey = ['forwards', 'listForwardConnections', forward.id];
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const input = { path: { router_id: forward.router_id, id: forward.id }, query: { limit: READ } };
      return (await api.call('listForwardConnections', input, { signal })).data;
    },
  });
  // The stream tells the sum; who has what of it is read when it has changed.
  useEvents(({ type, data: figures }) => {
    if (type === 'forward.traffic' && figures['forward_id'] === forward.id) void queries.invalidateQueries({ queryKey });
  });
  const older = forward.connection_count - (data?.length ?? 0);
  return (
    <Section title={words.connections.title} small={forward.connection_count}>
      {data?.length === 0 ? <p className="empty">{words.connections.empty}</p> : null}
      {data?.map(({ id, source, opened_at: at, closed_at: end, bytes_in: sent, bytes_out: received, ended_by: endedBy }) => (
        <div className="line connection" key={id}>
          <WorkLamp work={end === null ? 'running' : endedBy === 'closed' ? 'done' : 'canceled'} size={11} />
          <span className="el">
            <b className="id">{source}</b> <span className="dim">{endWords(endedBy)}</span>
          </span>
          <span className="num dim">{words.connections.traffic(sizeOf(sent), sizeOf(received))}</span>
          <Moment at={at} className="num dim" />
        </div>
      ))}
      {data && older > 0 ? <p className="hint">{words.connections.older(older)}</p> : null}
    </Section>
  );
}
