import { useQuery } from '@tanstack/react-query';
import type { Delivery } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { words } from './words.ts';

interface Props {
  routerId: string;
  jobId: string;
}

/** The newest of them are read. */
const READ = 50;
/** Attempts are no events: while one is due, the list is read this often, milliseconds. */
const READ_MS = 5000;

/** What was sent to the job's webhook, and what became of it. */
export function Deliveries({ routerId, jobId }: Props) {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['jobs', 'listDeliveries', jobId],
    queryFn: async ({ signal }) => {
      const input = { path: { router_id: routerId, job_id: jobId }, query: { limit: READ } };
      return (await api.call('listDeliveries', input, { signal })).data;
    },
    refetchInterval: ({ state }) => (state.data?.length && state.data.every(isSettled) ? false : READ_MS),
  });
  return (
    <Section title={words.deliveries.title} small={data?.length}>
      {data?.length === 0 ? <p className="empty">{words.deliveries.empty}</p> : null}
      {data?.map((delivery) => (
        <DeliveryLine key={delivery.id} delivery={delivery} routerId={routerId} jobId={jobId} />
      ))}
    </Section>
  );
}

function isSettled({ state }: Delivery): boolean {
  return state !== 'pending' && state !== 'resending';
}

const LAMPS = { pending: 'waiting', resending: 'waiting', delivered: 'done', failed: 'failed', gone: 'canceled' } as const;

function DeliveryLine({ delivery, routerId, jobId }: { delivery: Delivery } & Props) {
  const { id, type, state, attempts, created_at: createdAt } = delivery;
  const write = useWrite('resendDelivery', ['jobs']);
  const maySend = useMay('operator') && (state === 'failed' || state === 'gone' || state === 'delivered');
  const last = attempts.at(-1);
  return (
    <div className="line delivery">
      <Moment at={createdAt} className="dim" />
      <WorkLamp work={LAMPS[state]} />
      <span className="el">
        <b>{type}</b> {words.deliveries.states[state]}
        <span className="dim">
          {last === undefined
            ? ''
            : `, ${words.deliveries.atAttempt(last.status ?? last.error?.replaceAll('_', ' ') ?? '', attempts.length)}`}
        </span>
      </span>
      {maySend ? (
        <button
          type="button"
          className="btn quiet sm"
          disabled={write.state.kind === 'sending'}
          onClick={() =>
            void (write.state.kind === 'maybe_done'
              ? write.lookAgain()
              : write.send({ path: { router_id: routerId, job_id: jobId, delivery_id: id } }))
          }
        >
          {write.state.kind === 'maybe_done' ? words.deliveries.lookAgain : words.deliveries.sendAgain}
        </button>
      ) : null}
    </div>
  );
}
