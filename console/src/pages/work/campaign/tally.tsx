import { Link } from '@tanstack/react-router';
import type { Campaign } from '../../../../../client/browser.ts';
import { WorkLamp, workWord } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';

/** How many routers are where; each leads to their list. */
export function CampaignTally({ campaign }: { campaign: Campaign }) {
  const { counts, target_count: all, most_at_once: most } = campaign;
  const figures: readonly [Work, number, string][] = [
    ['done', counts.completed, `${Math.round((counts.completed / Math.max(1, all)) * 100)} % of the list`],
    ['running', counts.running, `at most ${most} under way`],
    [
      'waiting',
      counts.pending + counts.waiting,
      counts.pending > 0 ? (counts.pending === 1 ? '1 has its job' : `${counts.pending} have their job`) : 'no job yet',
    ],
    [
      'failed',
      counts.failed,
      campaign.abort_after_failures === null ? 'stops nothing by number' : `stops at ${campaign.abort_after_failures}`,
    ],
    ['unknown', counts.unknown, 'counts as failed'],
    ['expired', counts.expired, 'never ran'],
    ...(counts.skipped + counts.deleted > 0
      ? [['skipped', counts.skipped + counts.deleted, 'no job, or taken back'] as [Work, number, string]]
      : []),
  ];
  return (
    <div className="tally" role="group" aria-label="Routers by result">
      {figures.map(([work, count, small]) => (
        <Link key={work} to="/campaigns/$campaignId" params={{ campaignId: campaign.id }} search={{ show: work }} replace>
          <WorkLamp work={work} size={13} />
          <strong>{count.toLocaleString('en')}</strong>
          <em>{work === 'expired' ? 'expired' : workWord(work)}</em>
          <small>{small}</small>
        </Link>
      ))}
    </div>
  );
}
