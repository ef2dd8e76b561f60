import './sites.css';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { useManyRails } from '../../../data/use-rails.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { StateOf } from '../../../parts/lamp.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { useNow } from '../../../parts/use-now.ts';
import { BOARD } from '../../../rails/shapes.ts';
import type { Size } from '../../../rails/shapes.ts';
import { RailPicture } from '../../../rails/rail-picture.tsx';
import { useMay } from '../../../session/use-may.ts';
import { Silenced } from '../router/silenced.tsx';
import { DayRails } from '../routers/row.tsx';
import { inOrder, wordForSite } from '../routers/search.ts';
import { Share } from './share.tsx';
import { worstOf } from './use-sites.ts';
import { SiteDialog } from './site-dialog.tsx';
import { words } from './words.ts';

/** The board's rails, twice as high. */
const LARGE: Size = { ...BOARD, height: 16 };

/** So many routers are listed; the list of routers has all. */
const MOST = 100;
const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** One site: its routers and their last 24 hours. */
export function SitePage() {
  const { siteId } = useParams({ from: '/sites/$siteId' });
  const { data: site, error } = useRecord('sites', 'getSite', { path: { site_id: siteId } });
  const routers = useRoutersOf(siteId);
  const now = useNow(60_000);
  const rails = useManyRails(routers, now);
  const [asked, setAsked] = useState<'change' | 'remove'>();
  const mayChange = useMay('admin');
  const maySilence = useMay('operator');
  const navigate = useNavigate();
  if (!site)
    return error ? <MissingRecord error={error} what={words.site.what} list={{ href: '/sites', name: words.sites }} /> : <Reading />;
  const answering = routers.filter(({ state }) => state === 'answering').length;
  return (
    <>
      <PageHead
        crumb={<AppLink href="/sites">{words.sites}</AppLink>}
        title={site.name}
        sentence={<Share routers={routers.length} answering={answering} worst={worstOf(routers.map(({ state }) => state))} />}
        actions={
          maySilence ? (
            <>
              <AppLink href={`/notifications/silences?site=${siteId}`} className="btn">
                {words.site.silence}
              </AppLink>
              {mayChange ? <Actions onAsk={setAsked} /> : null}
            </>
          ) : undefined
        }
      />
      <Silenced siteId={siteId} />
      {routers.length === 0 ? null : (
        <div className="site-rails">
          <RailPicture rails={rails} size={LARGE} />
        </div>
      )}
      <Section
        title={words.site.routers}
        small={<Listed count={routers.length} />}
        aside={
          <Link to="/routers" search={{ q: wordForSite(site) }} className="hand">
            {words.site.inList}
          </Link>
        }
      >
        {routers.length === 0 ? <p className="empty">{words.site.empty}</p> : null}
        {routers.slice(0, MOST).map((router) => (
          <div className="line site-router" key={router.id}>
            <StateOf state={router.state} reason={router.state_reason} />
            <Link to="/routers/$routerId" params={{ routerId: router.id }} search={{}} className="id b el">
              {router.identity}
            </Link>
            <span className="dim el m-no">{router.model ?? router.board_name}</span>
            <DayRails router={router} now={now} />
          </div>
        ))}
      </Section>
      {asked === 'change' ? <SiteDialog site={site} onClose={() => setAsked(undefined)} /> : null}
      {asked === 'remove' ? (
        <Confirm
          title={words.removal.title(site.name)}
          action={words.removal.remove}
          operation="deleteSite"
          input={{ path: { site_id: siteId } }}
          stale={['sites', 'router']}
          leaves
          onClose={() => setAsked(undefined)}
          onDone={() => void navigate({ to: '/sites' })}
        >
          <p>{routers.length === 0 ? words.removal.empty : words.removal.moveFirst(routers.length)}</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** How many of its routers are listed. */
function Listed({ count }: { count: number }) {
  return (
    <>
      {count > MOST ? words.site.some(MOST, count) : count}
      <span className="m-no">{words.site.rails}</span>
    </>
  );
}

function Actions({ onAsk }: { onAsk: (asked: 'change' | 'remove') => void }) {
  return (
    <>
      <button type="button" className="btn danger" onClick={() => onAsk('remove')}>
        {words.site.remove}
      </button>
      <button type="button" className="btn" onClick={() => onAsk('change')}>
        {words.site.change}
      </button>
    </>
  );
}

function useRoutersOf(siteId: string): readonly Router[] {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  return useMemo(() => {
    void version;
    const here = routers.values().filter(({ site_id: id }) => id === siteId);
    return inOrder(here, 'state', NO_NAMES, routers.byName);
  }, [routers, version, siteId]);
}
