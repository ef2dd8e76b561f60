import { Link } from '@tanstack/react-router';
import type { Campaign } from '../../../../../client/browser.ts';
import { WorkLamp, workWord } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { words } from './words.ts';

/** How many routers are where; each leads to their list. */
export function CampaignTally({ campaign }: { campaign: Campaign }) {
  const { counts, target_count: all, most_at_once: most } = campaign;
  const figures: readonly [Work, number, string][] = [
    ['done', counts.completed, words.tally.done(Math.round((counts.completed / Math.max(1, all)) * 100))],
    ['running', counts.running, words.tally.running(most)],
    ['waiting', counts.pending + counts.waiting, counts.pending > 0 ? words.tally.haveJob(counts.pending) : words.tally.noJob],
    [
      'failed',
      counts.failed,
      campaign.abort_after_failures === null ? words.tally.stopsNothing : words.tally.stopsAt(campaign.abort_after_failures),
    ],
    ['unknown', counts.unknown, words.tally.unknown],
    ['expired', counts.expired, words.tally.neverRan],
    ...(counts.skipped + counts.deleted > 0
      ? [['skipped', counts.skipped + counts.deleted, words.tally.skipped] as [Work, number, string]]
      : []),
  ];
  return (
    <div className="tally" role="group" aria-label={words.tally.title}>
      {figures.map(([work, count, small]) => (
        <Link key={work} to="/campaigns/$campaignId" params={{ campaignId: campaign.id }} search={{ show: work }} replace>
          <WorkLamp work={work} size={13} />
          <strong>{count.toLocaleString('en')}</strong>
          <em>{work === 'expired' ? words.tally.expired : workWord(work)}</em>
          <small>{small}</small>
        </Link>
      ))}
    </div>
  );
}
