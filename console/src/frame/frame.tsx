import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Fragment, useRef } from 'react';
import { useFleet } from '../data/use-fleet.ts';
import { useFirstView } from '../data/use-views.ts';
import { Hatching } from '../rails/hatching.tsx';
import { useCurrentInSight } from '../parts/use-current-in-sight.ts';
import { useMay } from '../session/use-may.ts';
import { useSession } from '../session/use-session.ts';
import { GoTo } from './go-to.tsx';
import { PLACES } from './places.ts';
import { RoleChanged } from './role-changed.tsx';
import { Shelf } from './shelf.tsx';
import { LiveMark } from './live-mark.tsx';
import { Mark } from './mark.tsx';
import { Updated } from './updated.tsx';
import { useKeptFocus } from './use-kept-focus.ts';
import { words } from './words.ts';

/** What stands around every page: places at the left, the shelf of lamps and the link to the control plane above. */
export function Frame() {
  const { me } = useFleet();
  const session = useSession();
  const firstView = useFirstView();
  const mayRun = useMay('operator');
  const isNow = useIsOfNow();
  const page = useRef<HTMLElement>(null);
  const places = useCurrentInSight();
  useKeptFocus(page);
  return (
    <div className="app">
      <Hatching />
      <a className="skip" href="#page">
        {words.skip}
      </a>
      <header>
        <Link to="/" className="brand" activeProps={{}} aria-label={words.home}>
          <Mark /> <span className="m-no">{words.brand}</span>
        </Link>
        <div className="top">
          <GoTo />
          <span className="sp" />
          <Shelf />
          <LiveMark />
        </div>
      </header>
      <nav className="side" aria-label={words.places} ref={places}>
        {PLACES.map((group) => (
          <Fragment key={group[0].name}>
            {group
              .filter(({ link }) => link.to !== '/run' || mayRun)
              .map(({ name, link }) => (
                <Link
                  key={name}
                  {...link}
                  {...(link.to === '/routers' ? { search: firstView } : {})}
                  {...(isNow && link.to === '/' ? CURRENT : {})}
                  {...(isNow && link.to === '/routers' ? { activeOptions: { exact: true } } : {})}
                  activeProps={CURRENT}
                >
                  {name}
                </Link>
              ))}
            <hr />
          </Fragment>
        ))}
        {/* Beside the application: what it shows only once would be gone. */}
        <a href="/docs" target="_blank" rel="noopener">
          {words.api}
        </a>
        <div className="who">
          <b>{me.team.name}</b>
          <Link to="/me" className="me" activeProps={CURRENT}>
            {me.email ?? me.id}, {me.role}
          </Link>
          <button type="button" className="btn quiet sm" onClick={() => void session.signOut()}>
            {words.signOut}
          </button>
        </div>
      </nav>
      <main className="main" id="page" tabIndex={-1} ref={page}>
        <Updated />
        <RoleChanged />
        <Outlet />
      </main>
    </div>
  );
}

declare module '@tanstack/history' {
  interface HistoryState {
    /** The page is one of the only router, to which Now has led: the same address is also opened from the list. */
    isOfNow?: true;
  }
}

function useIsOfNow(): boolean {
  return useLocation({ select: ({ state }) => state.isOfNow === true });
}

const CURRENT = { className: 'on', 'aria-current': 'page' } as const;
