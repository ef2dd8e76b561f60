import '../../settings/settings.css';
import '../notifications.css';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { MESSAGES, THREADS } from '../../../data/fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { useMay } from '../../../session/use-may.ts';
import { GROUPS, useNames } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { ChangeGroup } from './change-group.tsx';
import type { Asked } from './change-group.tsx';
import { ReachTable } from './reach-table.tsx';
import { GroupSentence, Reaches } from './said.tsx';
import { TestGroup } from './test-group.tsx';
import { Topics } from './topics.tsx';
import { Times } from './times.tsx';
import { useGroup } from './use-group.ts';

/** One group: its sentence, whom it reaches and why not the others, and each part of it, which administrators change. */
export function GroupPage() {
  const { groupId } = useParams({ from: '/notifications/groups/$groupId' });
  const { data: group, error } = useGroup(groupId);
  const { names, error: namesError } = useNames();
  if (!group)
    return error ? <MissingRecord error={error} what="group" list={{ href: '/notifications/groups', name: 'Groups' }} /> : <Reading />;
  if (!names) return namesError ? <ReadingFailed error={namesError} what="What the group names" /> : <Reading />;
  return <Group group={group} names={names} />;
}

function Group({ group, names }: { group: NotificationGroup; names: Names }) {
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<Asked | 'remove' | 'test'>();
  const change = (what: Asked, name: string) =>
    mayChange ? (
      <button type="button" className="btn quiet sm" onClick={() => setAsked(what)}>
        {name}
      </button>
    ) : undefined;
  const close = () => setAsked(undefined);
  return (
    <>
      <PageHead
        crumb={<Link to="/notifications/groups">Groups</Link>}
        title={group.name}
        actions={
          mayChange ? (
            <>
              <button type="button" className="btn danger" onClick={() => setAsked('remove')}>
                Remove
              </button>
              <button type="button" className="btn" onClick={() => setAsked('name')}>
                Rename
              </button>
              <button type="button" className="btn main-act" onClick={() => setAsked('test')}>
                Send a test
              </button>
            </>
          ) : undefined
        }
      />
      <div className="sections">
        <div>
          <p className="told">
            <GroupSentence group={group} names={names} />
          </p>
          <Reaches group={group} />
        </div>
        <Section
          title="Who is told"
          aside={
            <>
              {change('people', 'Change people')} {change('targets', 'Change channels')}
            </>
          }
        >
          <Reach group={group} names={names} />
        </Section>
        <Section title="Of what" aside={change('topics', 'Change topics')}>
          <Topics group={group} names={names} />
        </Section>
        <Section title="Where" aside={change('sites', 'Change sites')}>
          <Places group={group} names={names} />
        </Section>
        <Section title="When" aside={change('times', 'Change times')}>
          <Times group={group} names={names} />
        </Section>
        <Section title="If nobody acknowledges" aside={change('escalation', 'Change')}>
          <Escalation group={group} names={names} />
        </Section>
      </div>
      {asked === 'remove' ? <Remove group={group} onClose={close} /> : null}
      {asked === 'test' ? <TestGroup group={group} names={names} onClose={close} /> : null}
      {asked === undefined || asked === 'remove' || asked === 'test' ? null : (
        <ChangeGroup what={asked} group={group} names={names} onClose={close} />
      )}
    </>
  );
}

function Reach({ group, names }: { group: NotificationGroup; names: Names }) {
  const { data, error } = useRecord(GROUPS, 'getGroupReach', { path: { group_id: group.id } });
  if (!data) return error ? <ReadingFailed error={error} what="Who is told" /> : <Reading />;
  return <ReachTable reach={data} names={names} />;
}

function Places({ group: { sites }, names }: { group: NotificationGroup; names: Names }) {
  if (sites.length === 0) return <p className="empty">Everywhere, also routers without a site.</p>;
  return (
    <ul className="names">
      {sites.map((id) => (
        <li key={id}>
          <Link to="/sites/$siteId" params={{ siteId: id }} className="b">
            {names.sites.get(id)?.name ?? 'removed site'}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Escalation({ group, names }: { group: NotificationGroup; names: Names }) {
  const { escalate_after_minutes: minutes, escalate_to: to } = group;
  if (minutes === null || to === null) return <p className="empty">Nothing more happens.</p>;
  return (
    <p className="prose-block">
      After {minutes === 1 ? 'one minute' : `${minutes} minutes`},{' '}
      <Link to="/notifications/groups/$groupId" params={{ groupId: to }} className="b under">
        {names.groups.get(to)?.name ?? 'a removed group'}
      </Link>{' '}
      is told.
    </p>
  );
}

function Remove({ group, onClose }: { group: NotificationGroup; onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <Confirm
      title={`Remove the group ${group.name}?`}
      action="Remove the group"
      operation="deleteGroup"
      input={{ path: { group_id: group.id } }}
      stale={[GROUPS, THREADS, MESSAGES]}
      leaves
      onClose={onClose}
      onDone={() => void navigate({ to: '/notifications/groups' })}
    >
      <p>
        Whom it reaches is not told of anything by it any more. People, channels, topics and schedules stay.
        {group.reaches === 0 ? '' : ` It reaches ${group.reaches === 1 ? 'one address' : `${group.reaches} addresses`} now.`}
      </p>
    </Confirm>
  );
}
