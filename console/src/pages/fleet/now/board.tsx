import { useEffect, useMemo, useRef, useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { useManyRails } from '../../../data/use-rails.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { useNow } from '../../../parts/use-now.ts';
import { RailPicture } from '../../../rails/rail-picture.tsx';
import { BOARD } from '../../../rails/shapes.ts';
import { useSiteNames } from '../routers/use-filtered.ts';
import { boardOf } from './board.ts';
import type { BoardSite } from './board.ts';
import { words } from './words.ts';

/** Sites of one look; the others are on their page. */
const MOST = 200;

/** Every site with its last 24 hours: trouble first, then by name. */
export function Board() {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  const names = useSiteNames();
  const now = useNow(60_000);
  const sites = useMemo(() => {
    void version;
    return boardOf(routers.values(), names);
  }, [routers, version, names]);
  if (sites.length === 0) return null;
  const small = sites.some(({ id }) => id !== null) ? words.board.sites(sites.length) : words.board.allRouters;
  return (
    <section className="board-section">
      <div className="h2">
        <h2>{words.board.title}</h2>
        <small>{small}</small>
        <Legend />
      </div>
      <div className="board">
        {sites.slice(0, MOST).map((site) => (
          <Site key={site.id ?? 'none'} site={site} now={now} />
        ))}
      </div>
      {sites.length > MOST ? (
        <p className="empty">
          <AppLink href="/sites" className="hand">
            {words.board.more(sites.length - MOST)}
          </AppLink>
        </p>
      ) : null}
    </section>
  );
}

function Legend() {
  return (
    <span className="board-legend m-no" aria-hidden="true">
      {fill(words.board.legend, {
        heard: <i className="heard" />,
        away: <i className="away" />,
        not: <i className="not" />,
        unknown: <i className="hatch" />,
        never: <i className="unseen" />,
      })}
    </span>
  );
}

function Site({ site, now }: { site: BoardSite; now: number }) {
  const { id, name, worst, answering, routers } = site;
  const line = useRef<HTMLDivElement>(null);
  const isInSight = useInSight(line);
  const isBad = answering < routers.length;
  const href = id === null ? '/routers?q=site%3Anone' : `/sites/${id}`;
  return (
    <div className={isBad ? 'site bad' : 'site'} ref={line}>
      <AppLink href={href} className="lamp">
        <Lamp state={worst} size={10} /> <span className="el">{name}</span>
      </AppLink>
      {isInSight ? <SiteRails routers={routers} now={now} /> : <span className="site-room" />}
      <span className="num" title={words.board.share(answering, routers.length)}>
        {isBad ? `${answering}/${routers.length}` : routers.length}
        <span className="sr"> {words.board.answer}</span>
      </span>
    </div>
  );
}

function SiteRails({ routers, now }: { routers: readonly Router[]; now: number }) {
  return <RailPicture rails={useManyRails(routers, now)} size={BOARD} />;
}

/** Only what is seen is read. Once seen, it stays. */
function useInSight(element: React.RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current || isSeen) return undefined;
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isSeen]);
  return isSeen;
}
