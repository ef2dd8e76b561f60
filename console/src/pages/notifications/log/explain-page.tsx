import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ExplainedGroup } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { NotificationsArea } from '../area.tsx';
import { useNames } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { SORTS } from '../topics/kinds.ts';
import { channelName } from '../words.ts';
import type { ExplainSearch } from './search.ts';
import { wouldBeWords } from './words.ts';

const USUAL = 'fault.router_offline';

/** Who would be told of something, and why the others would not. The question is in the address. */
export function ExplainPage() {
  const { kind = USUAL, router, at } = useSearch({ from: '/notifications/explain' });
  const { api } = useFleet();
  const { names, error: namesError } = useNames();
  const { data, error } = useQuery({
    queryKey: ['explain', kind, router, at],
    queryFn: async ({ signal }) => {
      const body = {
        kind,
        ...(router === undefined ? {} : { router_id: router }),
        ...(at === undefined ? {} : { at: new Date(at).toISOString() }),
      };
      return (await api.call('explainNotification', { body }, { signal })).data;
    },
  });
  return (
    <NotificationsArea
      name="Why"
      note="Who would be told if this happened, by which way, and why the others would not. Nothing is sent. What really happened is in the log."
    >
      <Question />
      <Read answer={data} names={names} error={error ?? namesError} />
    </NotificationsArea>
  );
}

function Read({ answer, names, error }: { answer: readonly ExplainedGroup[] | undefined; names: Names | undefined; error: Error | null }) {
  if (answer && names) return <Answer groups={answer} names={names} />;
  return error ? <ReadingFailed error={error} what="The answer" /> : <Reading />;
}

function Question() {
  const { kind = USUAL, router = '', at = '' } = useSearch({ from: '/notifications/explain' });
  const navigate = useNavigate({ from: '/notifications/explain' });
  const { routers } = useFleet();
  useRoutersVersion();
  const change = (changed: ExplainSearch): void => void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  const orNone = (text: string): string | undefined => (text === '' ? undefined : text);
  return (
    <div className="filter log-filter">
      <label className="t2 dim">
        If{' '}
        <select className="control" value={kind} onChange={({ target }) => change({ kind: target.value })}>
          {SORTS.map((sort) => (
            <optgroup key={sort.all} label={sort.name}>
              {sort.kinds.map((one) => (
                <option key={one.kind} value={one.kind}>
                  {one.words}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <label className="t2 dim">
        at{' '}
        <select className="control" value={router} onChange={({ target }) => change({ router: orNone(target.value) })}>
          <option value="">no site</option>
          {routers.values().map(({ id, identity }) => (
            <option key={id} value={id}>
              {identity}
            </option>
          ))}
        </select>
      </label>
      <label className="t2 dim">
        on <input className="control" type="datetime-local" value={at} onChange={({ target }) => change({ at: orNone(target.value) })} />
      </label>
      <span className="t2 faint">{at === '' ? 'now' : 'by the clock of this browser'}</span>
    </div>
  );
}

function Answer({ groups, names }: { groups: readonly ExplainedGroup[]; names: Names }) {
  const hearing = groups.filter(({ hears }) => hears);
  const others = groups.filter(({ hears }) => !hears);
  const { router } = useSearch({ from: '/notifications/explain' });
  const told = hearing.flatMap(({ recipients }) => recipients).filter(({ state }) => state !== 'withheld').length;
  return (
    <>
      <p className="told" role="status">
        {told === 0 ? (
          <b className="c-not">Nobody would be told of it.</b>
        ) : (
          <b>{told === 1 ? 'One address would be told of it.' : `${told} addresses would be told of it.`}</b>
        )}
      </p>
      {hearing.map((group) => (
        <Section key={group.group_id} title={<GroupLink group={group} />} small={holdOf(group)}>
          <ul className="form-lines">
            {group.recipients.map((line, index) => (
              <li key={index} className="test-line">
                <b className="b">{nameOf(line, names)}</b> <span className="dim">by {channelName(line.channel)}</span>
                <br />
                <Outcome line={line} />
              </li>
            ))}
            {group.recipients.length === 0 ? <li className="hint">The group names nobody.</li> : null}
          </ul>
        </Section>
      ))}
      {others.length === 0 ? null : (
        <Section title="Not these groups" small={`${others.length}`}>
          {router === undefined && others.some(({ reason }) => reason === 'other_sites') ? (
            <p className="hint">Groups with sites hear only of these. Choose a router to see who hears of its site.</p>
          ) : null}
          <ul className="names">
            {others.map((group) => (
              <li key={group.group_id}>
                <GroupLink group={group} /> <span className="dim">{group.reason === null ? '' : wouldBeWords(group.reason)}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function GroupLink({ group: { group, group_id: groupId } }: { group: ExplainedGroup }) {
  return (
    <Link to="/notifications/groups/$groupId" params={{ groupId }} className="b">
      {group}
    </Link>
  );
}

function holdOf({ reason, until }: ExplainedGroup): React.ReactNode {
  if (reason === null) return undefined;
  return (
    <b className="c-not">
      {wouldBeWords(reason)}
      {until === null ? '' : ', until '}
      <Moment at={until} />
    </b>
  );
}

type Line = ExplainedGroup['recipients'][number];

function nameOf({ user_id: userId, target }: Line, names: Names): string {
  return userId === null ? (target ?? 'a removed channel') : (names.members.get(userId)?.email ?? 'somebody who has left');
}

function Outcome({ line: { state, reason, until, address } }: { line: Line }) {
  const words = { sent: 'is told', held: 'is told later', withheld: 'is not told' } as const;
  return (
    <>
      <span className="lamp">
        <WorkLamp work={state === 'sent' ? 'done' : state === 'held' ? 'waiting' : 'failed'} />
        <span className={state === 'withheld' ? 'b c-not' : ''}>{words[state]}</span>
      </span>
      <span className="dim">
        {reason === null ? '' : `, ${wouldBeWords(reason)}`}
        {until === null ? '' : ', '}
        <Moment at={until} />
        {address === null ? '' : ` (${address})`}
      </span>
    </>
  );
}
