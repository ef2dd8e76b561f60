import { useQuery } from '@tanstack/react-query';
import type { TransientForward } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { sizeOf } from '../../../parts/sizes.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { endWords } from './words.ts';

/** The newest of them are read. */
const READ = 50;
/** While the forward is open they are read this often, milliseconds. */
const READ_MS = 3000;

/** Who connected, how much went through, and how each ended. */
export function Connections({ forward, isOpen }: { forward: TransientForward; isOpen: boolean }) {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['forwards', 'listForwardConnections', forward.id],
    queryFn: async ({ signal }) => {
      const input = { path: { router_id: forward.router_id, id: forward.id }, query: { limit: READ } };
      return (await api.call('listForwardConnections', input, { signal })).data;
    },
    ...(isOpen ? { refetchInterval: READ_MS } : {}),
  });
  const older = forward.connection_count - (data?.length ?? 0);
  return (
    <Section title="Connections" small={forward.connection_count}>
      {data?.length === 0 ? <p className="empty">Nobody has connected yet.</p> : null}
      {data?.map(({ id, source, opened_at: at, closed_at: end, bytes_in: sent, bytes_out: received, ended_by: endedBy }) => (
        <div className="line connection" key={id}>
          <WorkLamp work={end === null ? 'running' : endedBy === 'closed' ? 'done' : 'canceled'} size={11} />
          <span className="el">
            <b className="id">{source}</b> <span className="dim">{endWords(endedBy)}</span>
          </span>
          <span className="num dim">
            {sizeOf(sent)} in, {sizeOf(received)} out
          </span>
          <Moment at={at} className="num dim" />
        </div>
      ))}
      {data && older > 0 ? <p className="hint">And {older} older ones.</p> : null}
    </Section>
  );
}
