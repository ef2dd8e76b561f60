import './router.css';
import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { Router } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { numberWords } from '../../../parts/sizes.ts';
import { Tabs } from '../../../parts/tabs.tsx';
import type { Tab } from '../../../parts/tabs.tsx';
import { useKeys } from '../../../parts/use-keys.ts';
import { useMay } from '../../../session/use-may.ts';
import { useFiltered, useSiteNames } from '../routers/use-filtered.ts';
import { RoutersCrumb } from './facts.tsx';
import { routerSentence } from './sentence.ts';

/** One router: its name, its state in a sentence and its parts; each part is a page of its own. */
export function RouterPage() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const { router, error } = useRouter(routerId);
  if (!router && error) return <MissingRecord error={error} what="router" list={{ href: '/routers', name: 'Routers' }} />;
  if (!router) return <Reading />;
  return (
    <>
      <Head router={router} />
      <Tabs label="Parts of this router" tabs={tabsOf(routerId)} />
      <Outlet />
    </>
  );
}

/** The record with everything in it, and with the state that the page hears of. */
export function useRouter(routerId: string): { router: Router | undefined; error: Error | null } {
  const live = useRouterRecord(routerId);
  const { data, error } = useRecord('router', 'getRouter', { path: { router_id: routerId } });
  const router =
    data && live ? { ...data, state: live.state, state_since: live.state_since, state_reason: live.state_reason } : (data ?? live);
  return { router, error };
}

function Head({ router }: { router: Router }) {
  const { data: agent } = useRecord('agents', 'getAgent', { path: { agent_id: router.agent_id } });
  const { strong, weak } = routerSentence(router, agent);
  const mayRun = useMay('operator');
  return (
    <div className="head router-head">
      <div>
        <p className="crumb">
          <Place id={router.id} />
        </p>
        <h1 className="id">{router.identity}</h1>
        <p className="say">
          {router.state ? <Lamp state={router.state} size={15} /> : null} <b>{strong}</b> {weak}
        </p>
      </div>
      {mayRun && router.removed_at === null ? (
        <div className="acts">
          <AppLink href={`/forwards/new?router=${router.id}`} className="btn">
            Open a forward
          </AppLink>
          <AppLink href={`/run?routers=${router.id}`} className="btn main-act">
            Run a command
          </AppLink>
        </div>
      ) : null}
    </div>
  );
}

/** Where this router is in the list that it was opened from, and the ways to its neighbours. */
function Place({ id }: { id: string }) {
  const { q, sort } = useSearch({ from: '/routers/$routerId' });
  const navigate = useNavigate({ from: '/routers/$routerId' });
  const ids = useFiltered(q ?? '', sort ?? 'state', useSiteNames());
  const index = ids.indexOf(id);
  const go = (to: string | undefined) =>
    to === undefined
      ? undefined
      : () => void navigate({ to: '/routers/$routerId', params: { routerId: to }, search: (before) => before, replace: true });
  const before = go(index > 0 ? ids[index - 1] : undefined);
  const after = go(index >= 0 ? ids[index + 1] : undefined);
  useKeys({ '[': before, ']': after });
  return (
    <RoutersCrumb q={q}>
      {index < 0 ? null : (
        <>
          , {numberWords(index + 1)} of {numberWords(ids.length)}
          <span className="m-no">
            <Neighbour name="Previous router" sign="[" onGo={before} />
            <Neighbour name="Next router" sign="]" onGo={after} />
          </span>
        </>
      )}
    </RoutersCrumb>
  );
}

function Neighbour({ name, sign, onGo }: { name: string; sign: string; onGo: (() => void) | undefined }) {
  return (
    <button type="button" className="key" aria-label={name} title={`${name}: ${sign}`} disabled={!onGo} onClick={onGo}>
      {sign}
    </button>
  );
}

function tabsOf(routerId: string): readonly Tab[] {
  const params = { routerId };
  const search = true;
  return [
    { name: 'Story', link: { to: '/routers/$routerId', params, search } },
    { name: 'Tunnel', link: { to: '/routers/$routerId/tunnel', params, search } },
    { name: 'Jobs', link: { to: '/routers/$routerId/jobs', params, search } },
    { name: 'Forwards', link: { to: '/routers/$routerId/forwards', params, search } },
    { name: 'Backups', link: `/routers/${routerId}/backups` },
    { name: 'Terminal', link: `/routers/${routerId}/terminal` },
    { name: 'Faults', link: { to: '/routers/$routerId/faults', params, search } },
    { name: 'Devices', link: { to: '/routers/$routerId/devices', params, search } },
    { name: 'Health', link: { to: '/routers/$routerId/health', params, search } },
  ];
}
