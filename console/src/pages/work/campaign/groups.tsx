import type { OutputGroup } from '../../../../../client/browser.ts';
import { TARGETS } from '../../../data/fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { workClass } from '../../../parts/work-lamp.tsx';
import { reasonWords } from '../words.ts';
import { READ_GROUPS, firstLineOf } from './said.ts';
import { words, workOfTarget } from './words.ts';

/** Routers whose scripts printed the same. */
export function Groups({ campaignId }: { campaignId: string }) {
  const { data } = useRecord(TARGETS, 'getCampaignGroups', { path: { campaign_id: campaignId }, query: { limit: READ_GROUPS } });
  return (
    <Section title={words.groups.title} small={data ? words.groups.count(data.total) : undefined}>
      {data?.groups.length === 0 ? <p className="empty">{words.groups.empty}</p> : null}
      {data?.groups.map((group) => (
        <Group key={`${group.status} ${group.output_hash}`} group={group} />
      ))}
      {data && data.total > data.groups.length ? <p className="hint">{words.groups.largest(data.groups.length, data.total)}</p> : null}
    </Section>
  );
}

function Group({ group }: { group: OutputGroup }) {
  const { count, status, output, error, reason, router_ids: ids } = group;
  const text = error ?? output ?? '';
  const first = firstLineOf(text);
  return (
    <details className="said-same">
      <summary>
        <b className="num">{count}</b>
        <span className={status === 'completed' ? 'mono dim el' : `mono el ${workClass(workOfTarget({ status, reason }))}`}>
          {first ?? (reason === null ? words.groups.nothing : reasonWords(reason))}
        </span>
      </summary>
      {text === '' ? null : <pre className="said">{text}</pre>}
      <p>
        {ids.map((id) => (
          <span key={id}>
            <RouterLink id={id} />{' '}
          </span>
        ))}
        {count > ids.length ? <span className="dim">{words.groups.more(count - ids.length)}</span> : null}
      </p>
    </details>
  );
}
