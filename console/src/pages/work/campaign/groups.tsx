import type { OutputGroup } from '../../../../../client/browser.ts';
import { TARGETS } from '../../../data/fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { workClass } from '../../../parts/work-lamp.tsx';
import { countOf, reasonWords } from '../words.ts';
import { workOfTarget } from './words.ts';

/** Groups that are read; the largest come first. */
const READ = 50;

/** Routers whose scripts printed the same. */
export function Groups({ campaignId }: { campaignId: string }) {
  const { data } = useRecord(TARGETS, 'getCampaignGroups', { path: { campaign_id: campaignId }, query: { limit: READ } });
  return (
    <Section title="Said the same" small={data ? countOf(data.total, 'group') : undefined}>
      {data?.groups.length === 0 ? <p className="empty">No router has a result yet.</p> : null}
      {data?.groups.map((group) => (
        <Group key={`${group.status} ${group.output_hash}`} group={group} />
      ))}
      {data && data.total > data.groups.length ? (
        <p className="hint">
          The largest {data.groups.length} of {data.total} groups.
        </p>
      ) : null}
    </Section>
  );
}

function Group({ group }: { group: OutputGroup }) {
  const { count, status, output, error, reason, router_ids: ids } = group;
  const text = error ?? output ?? '';
  const first = text.split('\n').find((line) => line.trim() !== '');
  return (
    <details className="said-same">
      <summary>
        <b className="num">{count}</b>
        <span className={status === 'completed' ? 'mono dim el' : `mono el ${workClass(workOfTarget({ status, reason }))}`}>
          {first ?? (reason === null ? 'printed nothing' : reasonWords(reason))}
        </span>
      </summary>
      {text === '' ? null : <pre className="said">{text}</pre>}
      <p>
        {ids.map((id) => (
          <span key={id}>
            <RouterLink id={id} />{' '}
          </span>
        ))}
        {count > ids.length ? <span className="dim">and {count - ids.length} more</span> : null}
      </p>
    </details>
  );
}
