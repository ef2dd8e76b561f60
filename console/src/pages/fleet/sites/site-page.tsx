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
import { numberWords } from '../../../parts/sizes.ts';
import { useNow } from '../../../parts/use-now.ts';
import { BOARD } from '../../../rails/shapes.ts';
import type { Size } from '../../../rails/shapes.ts';
import { RailPicture } from '../../../rails/rail-picture.tsx';
import { useMay } from '../../../session/use-may.ts';
import { Silenced } from '../router/silenced.tsx';
import { DayRails } from '../routers/row.tsx';
import { inOrder, wordFor } from '../routers/search.ts';
import { Share } from './share.tsx';
import { SiteDialog } from './site-dialog.tsx';

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
  if (!site) return error ? <MissingRecord error={error} what="site" list={{ href: '/sites', name: 'Sites' }} /> : <Reading />;
  const answering = routers.filter(({ state }) => state === 'answering').length;
  return (
    <>
      <PageHead
        crumb={<AppLink href="/sites">Sites</AppLink>}
        title={site.name}
        sentence={<Share routers={routers.length} answering={answering} />}
        actions={
          maySilence ? (
            <>
              <AppLink href={`/notifications/silences?site=${siteId}`} className="btn">
                Silence
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
        title="Routers"
        small={<Listed count={routers.length} />}
        aside={
          <Link to="/routers" search={{ q: wordFor('site', site.name) }} className="hand">
            In the list of routers
          </Link>
        }
      >
        {routers.length === 0 ? (
          <p className="empty">No router stands here. Select routers in their list and move them to this site.</p>
        ) : null}
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
          title={`Remove the site ${site.name}?`}
          action="Remove the site"
          operation="deleteSite"
          input={{ path: { site_id: siteId } }}
          stale={['sites', 'router']}
          leaves
          onClose={() => setAsked(undefined)}
          onDone={() => void navigate({ to: '/sites' })}
        >
          <p>{removalWords(routers.length)}</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** How many of its routers are listed. */
function Listed({ count }: { count: number }) {
  return (
    <>
      {count > MOST ? `${MOST} of ${numberWords(count)}, trouble first` : count}
      <span className="m-no">, last 24 hours at the right</span>
    </>
  );
}

function removalWords(routers: number): string {
  if (routers === 0) return 'Notification groups lose it. A site with an agent cannot be removed.';
  const many = routers === 1 ? 'router' : `${numberWords(routers)} routers`;
  return `Move its ${many} to another site first: a site with routers or agents cannot be removed.`;
}

function Actions({ onAsk }: { onAsk: (asked: 'change' | 'remove') => void }) {
  return (
    <>
      <button type="button" className="btn danger" onClick={() => onAsk('remove')}>
        Remove
      </button>
      <button type="button" className="btn" onClick={() => onAsk('change')}>
        Change
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
