import type { CampaignTarget } from '../../../../../client/browser.ts';
import { TARGETS } from '../../../data/fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { WorkState } from '../../../parts/work-lamp.tsx';
import { reasonWords } from '../words.ts';
import { summaryOf } from './matrix.tsx';
import { READ_GROUPS, saidBy } from './said.ts';
import { TargetLink } from './target-lists.tsx';
import { words, workOfTarget } from './words.ts';

/** Up to so many routers are listed, which a person reads; more are a matrix. */
export const MOST_LISTED = 30;

/** Every router of a small campaign by name, in the order in which they run: what became of it, and what its script said first. */
export function TargetList({ campaignId, targets }: { campaignId: string; targets: readonly CampaignTarget[] }) {
  const { data } = useRecord(TARGETS, 'getCampaignGroups', { path: { campaign_id: campaignId }, query: { limit: READ_GROUPS } });
  const groups = data && data.total <= data.groups.length ? data.groups : [];
  return (
    <Section title={words.matrix.title} small={words.matrix.order(targets.length.toLocaleString('en'))}>
      <ul aria-label={summaryOf(targets)}>
        {targets.map((target) => {
          const said = saidBy(target, groups);
          return (
            <li className="line listed" key={target.router_id}>
              <span className="el">
                <TargetLink target={target} />
                {target.canary ? <span className="faint"> {words.targets.canary}</span> : null}
              </span>
              <WorkState work={workOfTarget(target)} why={reasonWords(target.reason)} />
              <span className="mono dim el said-first" title={said}>
                {said}
              </span>
              <Moment at={target.settled_at ?? target.started_at} className="num faint" />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
