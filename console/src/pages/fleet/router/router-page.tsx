import './router.css';
import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { Router } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import type { Tab } from '../../../parts/tabs.tsx';
import { useKeys } from '../../../parts/use-keys.ts';
import { useMay } from '../../../session/use-may.ts';
import { useFiltered, useSiteNames } from '../routers/use-filtered.ts';
import { RoutersCrumb } from './facts.tsx';
import { routerSentence } from './sentence.ts';
import { words } from './words.ts';

/** One router: its name, its state in a sentence and its parts; each part is a page of its own. */
export function RouterPage() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const { router, error } = useRouter(routerId);
  if (!router && error) return <MissingRecord error={error} what={words.what} list={{ href: '/routers', name: words.routers }} />;
  if (!router) return <Reading />;
  return (
    <>
      <Head router={router} />
      <RouterTabs routerId={routerId} />
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
  const mayRun = useMay('operator');
  return (
    <div className="head router-head">
      <div>
        <p className="crumb">
          <Place id={router.id} />
        </p>
        <h1 className="id">{router.identity}</h1>
        <p className="say">
          <RouterSentence router={router} />
        </p>
      </div>
      {mayRun && router.removed_at === null ? (
        <div className="acts">
          <AppLink href={`/forwards/new?router=${router.id}`} className="btn">
            {words.openForward}
          </AppLink>
          <AppLink href={`/run?routers=${router.id}`} className="btn main-act">
            {words.runCommand}
          </AppLink>
        </div>
      ) : null}
    </div>
  );
}

/** Its state in a sentence, on every page that is a part of it. */
export function RouterSentence({ router }: { router: Router }) {
  const { data: agent } = useRecord('agents', 'getAgent', { path: { agent_id: router.agent_id } });
  const { strong, weak } = routerSentence(router, agent);
  return (
    <>
      {router.state ? <Lamp state={router.state} size={15} /> : null} <b>{strong}</b> {weak}
    </>
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
          {words.place(index + 1, ids.length)}
          {ids.length < 2 ? null : (
            <span className="m-no">
              <Neighbour name={words.before} sign="[" onGo={before} />
              <Neighbour name={words.after} sign="]" onGo={after} />
            </span>
          )}
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

/** The parts of a router, on every page that is one of them. */
export function RouterTabs({ routerId }: { routerId: string }) {
  return <Tabs label={words.parts} tabs={tabsOf(routerId)} />;
}

function tabsOf(routerId: string): readonly Tab[] {
  // What stands beside the address says whether Now has led here: it holds for all parts.
  const beside = { params: { routerId }, state: true } as const;
  const same = { ...beside, search: true } as const;
  return [
    { name: words.tabs.story, link: { to: '/routers/$routerId', ...same } },
    { name: words.tabs.tunnel, link: { to: '/routers/$routerId/tunnel', ...same } },
    { name: words.tabs.jobs, link: { to: '/routers/$routerId/jobs', ...same } },
    { name: words.tabs.forwards, link: { to: '/routers/$routerId/forwards', ...same } },
    { name: words.tabs.backups, link: { to: '/routers/$routerId/backups', ...beside } },
    { name: words.tabs.terminal, link: { to: '/routers/$routerId/terminal', ...beside } },
    { name: words.tabs.faults, link: { to: '/routers/$routerId/faults', ...same } },
    { name: words.tabs.devices, link: { to: '/routers/$routerId/devices', ...same } },
    { name: words.tabs.health, link: { to: '/routers/$routerId/health', ...same } },
  ];
}
