import { Link } from '@tanstack/react-router';
import type { Campaign } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { failuresOf, settledOf, stateWord, workOfCampaign } from '../campaign/words.ts';
import { words } from './words.ts';
import '../work.css';

const COLUMNS: readonly Column<Campaign>[] = [
  {
    title: words.columns.state,
    width: 'minmax(140px, .8fr)',
    cell: (campaign) => (
      <span className="lamp">
        <WorkLamp work={workOfCampaign(campaign)} />
        <span className={campaign.state === 'stopped' ? 'c-not b' : 'b'}>{stateWord(campaign)}</span>
      </span>
    ),
    className: 'el',
  },
  {
    title: words.columns.campaign,
    width: 'minmax(160px, 1.5fr)',
    cell: (campaign) => (
      <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.id }} search={{}} className="hand">
        {campaign.description === '' ? words.columns.noDescription : campaign.description}
      </Link>
    ),
    className: 'el',
  },
  {
    title: words.columns.routers,
    width: '110px',
    cell: (campaign) => words.columns.settled(settledOf(campaign), campaign.target_count),
    className: 'num',
  },
  { title: words.columns.failed, width: '64px', cell: (campaign) => failuresOf(campaign) || '', className: 'num dim', isWide: true },
  {
    title: words.columns.started,
    width: '84px',
    cell: (campaign) => <Moment at={campaign.created_at} className="dim" />,
    className: 'num',
  },
];

/** Every campaign of the team, newest first. */
export function CampaignsPage() {
  const list = useList('campaigns', 'listCampaigns', {});
  const mayRun = useMay('operator');
  return (
    <>
      <PageHead
        title={words.campaigns}
        actions={
          mayRun ? (
            <Link to="/campaigns/new" search={{}} className="btn main-act">
              {words.newCampaign}
            </Link>
          ) : null
        }
      />
      <RecordTable
        label={words.campaigns}
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={
          <>
            <p>
              <b>{words.empty}</b> {words.emptyHint}
            </p>
            {mayRun ? null : <p>{words.mayNot}</p>}
          </>
        }
      />
    </>
  );
}
