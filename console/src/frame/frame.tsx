import { Link, Outlet } from '@tanstack/react-router';
import { Fragment, useRef } from 'react';
import { useFleet } from '../data/use-fleet.ts';
import { useFirstView } from '../data/use-views.ts';
import { Hatching } from '../rails/hatching.tsx';
import { useCurrentInSight } from '../parts/use-current-in-sight.ts';
import { useSession } from '../session/use-session.ts';
import { GoTo } from './go-to.tsx';
import { PLACES } from './places.ts';
import { RoleChanged } from './role-changed.tsx';
import { Shelf } from './shelf.tsx';
import { LiveMark } from './live-mark.tsx';
import { Mark } from './mark.tsx';
import { Updated } from './updated.tsx';
import { useKeptFocus } from './use-kept-focus.ts';

/** What stands around every page: places at the left, the shelf of lamps and the link to the control plane above. */
export function Frame() {
  const { me } = useFleet();
  const session = useSession();
  const firstView = useFirstView();
  const page = useRef<HTMLElement>(null);
  const places = useCurrentInSight();
  useKeptFocus(page);
  return (
    <div className="app">
      <Hatching />
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header>
        <Link to="/" className="brand" activeProps={{}} aria-label="Signalbox, fleet now">
          <Mark /> <span className="m-no">Signalbox</span>
        </Link>
        <div className="top">
          <GoTo />
          <span className="sp" />
          <Shelf />
          <LiveMark />
        </div>
      </header>
      <nav className="side" aria-label="Places" ref={places}>
        {PLACES.map((group) => (
          <Fragment key={group[0].name}>
            {group.map(({ name, link }) => (
              <Link key={name} {...link} {...(name === 'Routers' ? { search: firstView } : {})} activeProps={CURRENT}>
                {name}
              </Link>
            ))}
            <hr />
          </Fragment>
        ))}
        <a href="/docs">API</a>
        <div className="who">
          <b>{me.team.name}</b>
          <Link to="/me" className="me" activeProps={CURRENT}>
            {me.email ?? me.id}, {me.role}
          </Link>
          <button type="button" className="btn quiet sm" onClick={() => void session.signOut()}>
            Sign out
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

const CURRENT = { className: 'on', 'aria-current': 'page' } as const;
