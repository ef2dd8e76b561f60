import '../../settings/settings.css';
import '../notifications.css';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { MESSAGES, THREADS } from '../../../data/fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { fill } from '../../../parts/fill.tsx';
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
import { words } from './words.ts';

/** One group: its sentence, whom it reaches and why not the others, and each part of it, which administrators change. */
export function GroupPage() {
  const { groupId } = useParams({ from: '/notifications/groups/$groupId' });
  const { data: group, error } = useGroup(groupId);
  const { names, error: namesError } = useNames();
  if (!group)
    return error ? (
      <MissingRecord error={error} what={words.group.missing} list={{ href: '/notifications/groups', name: words.group.groups }} />
    ) : (
      <Reading />
    );
  if (!names) return namesError ? <ReadingFailed error={namesError} what={words.group.names} /> : <Reading />;
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
        crumb={<Link to="/notifications/groups">{words.group.groups}</Link>}
        title={group.name}
        actions={
          mayChange ? (
            <>
              <button type="button" className="btn danger" onClick={() => setAsked('remove')}>
                {words.group.remove}
              </button>
              <button type="button" className="btn" onClick={() => setAsked('name')}>
                {words.group.rename}
              </button>
              <button type="button" className="btn main-act" onClick={() => setAsked('test')}>
                {words.group.test}
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
          title={words.group.who}
          aside={
            <>
              {change('people', words.group.changePeople)} {change('targets', words.group.changeChannels)}
            </>
          }
        >
          <Reach group={group} names={names} />
        </Section>
        <Section title={words.group.what} aside={change('topics', words.group.changeTopics)}>
          <Topics group={group} names={names} />
        </Section>
        <Section title={words.group.where} aside={change('sites', words.group.changeSites)}>
          <Places group={group} names={names} />
        </Section>
        <Section title={words.group.when} aside={change('times', words.group.changeTimes)}>
          <Times group={group} names={names} />
        </Section>
        <Section title={words.group.escalation} aside={change('escalation', words.group.changeEscalation)}>
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
  if (!data) return error ? <ReadingFailed error={error} what={words.group.who} /> : <Reading />;
  return <ReachTable reach={data} names={names} />;
}

function Places({ group: { sites }, names }: { group: NotificationGroup; names: Names }) {
  if (sites.length === 0) return <p className="empty">{words.group.everywhere}</p>;
  return (
    <ul className="names">
      {sites.map((id) => (
        <li key={id}>
          <Link to="/sites/$siteId" params={{ siteId: id }} className="b">
            {names.sites.get(id)?.name ?? words.group.removedSite}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Escalation({ group, names }: { group: NotificationGroup; names: Names }) {
  const { escalate_after_minutes: minutes, escalate_to: to } = group;
  if (minutes === null || to === null) return <p className="empty">{words.group.noEscalation}</p>;
  return (
    <p className="prose-block">
      {fill(words.group.escalates(minutes), {
        group: (
          <Link to="/notifications/groups/$groupId" params={{ groupId: to }} className="b under">
            {names.groups.get(to)?.name ?? words.group.removedGroup}
          </Link>
        ),
      })}
    </p>
  );
}

function Remove({ group, onClose }: { group: NotificationGroup; onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <Confirm
      title={words.remove.title(group.name)}
      action={words.remove.act}
      operation="deleteGroup"
      input={{ path: { group_id: group.id } }}
      stale={[GROUPS, THREADS, MESSAGES]}
      leaves
      onClose={onClose}
      onDone={() => void navigate({ to: '/notifications/groups' })}
    >
      <p>
        {words.remove.about}
        {group.reaches === 0 ? '' : ` ${words.remove.reaches(group.reaches)}`}
      </p>
    </Confirm>
  );
}
