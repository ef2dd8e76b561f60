import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ProblemError } from '../../../../../client/browser.ts';
import type { Router } from '../../../../../client/browser.ts';
import { useFleet, useRouterRecord } from '../../../data/use-fleet.ts';
import { Lamp } from '../../../parts/lamp.tsx';
import { exactTime, lengthOf, shortTime } from '../../../parts/times.ts';
import { History } from './history.tsx';
import { routerSentence } from './sentence.ts';

/** One router: what state, since when, why; then what is known of it. */
export function RouterPage() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const { api } = useFleet();
  const live = useRouterRecord(routerId);
  const { data, error } = useQuery({
    queryKey: ['router', routerId],
    queryFn: async () => (await api.call('getRouter', { path: { router_id: routerId } })).data,
  });
  const router =
    data && live ? { ...data, state: live.state, state_since: live.state_since, state_reason: live.state_reason } : (data ?? live);
  if (!router && error) return <Missing error={error} />;
  if (!router) return <p className="empty">Reading</p>;
  return <Story router={router} />;
}

function Missing({ error }: { error: Error }) {
  const isGone = error instanceof ProblemError && error.status === 404;
  return (
    <div className="head">
      <div>
        <h1>{isGone ? 'Your team has no such router' : 'The router cannot be read'}</h1>
        <p>{isGone ? 'It may have been removed, or the address is mistyped.' : error.message}</p>
      </div>
    </div>
  );
}

function Story({ router }: { router: Router }) {
  const { strong, weak } = routerSentence(router);
  return (
    <>
      <div className="head">
        <div>
          <p className="crumb">
            <Link to="/routers" search={{}} className="hand">
              Routers
            </Link>
          </p>
          <h1 className="id">{router.identity}</h1>
          <p className="say">
            {router.state ? <Lamp state={router.state} size={14} /> : null} <b>{strong}</b> {weak}
          </p>
        </div>
      </div>
      <div className="cols story-cols">
        <History routerId={router.id} />
        <Facts router={router} />
      </div>
    </>
  );
}

function Facts({ router }: { router: Router }) {
  const { api } = useFleet();
  const { data: availability } = useQuery({
    queryKey: ['availability', router.id],
    queryFn: async () =>
      (await api.call('getRouterAvailability', { path: { router_id: router.id }, query: { bucket: 'hour' } })).data.total,
  });
  const facts: readonly [string, React.ReactNode][] = [
    ['Model', router.model ?? router.board_name],
    ['RouterOS', router.software_version],
    ['Serial', router.serial_number ?? 'not told'],
    ['Address', router.last_seen_from ?? 'not told'],
    ['Agent', router.agent_name ?? router.agent_id],
    ['Up', router.uptime ?? 'not told'],
    ['24 hours', shareOf(availability)],
    [
      'Known since',
      <time key="since" dateTime={router.created_at} title={exactTime(router.created_at)}>
        {shortTime(router.created_at)}
      </time>,
    ],
  ];
  return (
    <section>
      <div className="h2">
        <h2>Facts</h2>
      </div>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div className="line fact" key={name}>
            <dt className="faint">{name}</dt>
            <dd className="id el">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** How much of the last 24 hours it answered, and how much of them nobody knows. */
function shareOf(total: { percent_of_known: number | null; unknown: number } | undefined): string {
  if (!total) return '';
  if (total.percent_of_known === null) return 'nobody knew';
  const share = `${total.percent_of_known.toLocaleString(undefined, { maximumFractionDigits: 2 })} %`;
  return total.unknown < 1 ? share : `${share}, unknown for ${lengthOf(total.unknown * 1000)}`;
}
