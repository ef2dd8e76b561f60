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
import '../work.css';

const COLUMNS: readonly Column<Campaign>[] = [
  {
    title: 'State',
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
    title: 'Campaign',
    width: 'minmax(160px, 1.5fr)',
    cell: (campaign) => (
      <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.id }} search={{}} className="hand">
        {campaign.description === '' ? 'without a description' : campaign.description}
      </Link>
    ),
    className: 'el',
  },
  { title: 'Routers', width: '110px', cell: (campaign) => `${settledOf(campaign)} of ${campaign.target_count}`, className: 'num' },
  { title: 'Failed', width: '64px', cell: (campaign) => failuresOf(campaign) || '', className: 'num dim', isWide: true },
  { title: 'Started', width: '84px', cell: (campaign) => <Moment at={campaign.created_at} className="dim" />, className: 'num' },
];

/** Every campaign of the team, newest first. */
export function CampaignsPage() {
  const list = useList('campaigns', 'listCampaigns', {});
  const mayRun = useMay('operator');
  return (
    <>
      <PageHead
        title="Campaigns"
        actions={
          mayRun ? (
            <Link to="/campaigns/new" search={{}} className="btn main-act">
              New campaign
            </Link>
          ) : null
        }
      />
      <RecordTable
        label="Campaigns"
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={
          <>
            <p>
              <b>No campaign has been started.</b> A campaign runs one script on many routers: a few canaries first, then the others at a
              rate, and it stops by itself when too many fail.
            </p>
            {mayRun ? null : <p>People with the role operator start campaigns.</p>}
          </>
        }
      />
    </>
  );
}
