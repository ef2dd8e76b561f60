import { useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ExplainedGroup } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { shownZone } from '../../../parts/times.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { NotificationsArea } from '../area.tsx';
import { useNames } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { momentOf } from '../shown-time.ts';
import { SORTS } from '../topics/kinds.ts';
import { channelName, words as areaWords } from '../words.ts';
import type { ExplainSearch } from './search.ts';
import { wouldBeWords, words } from './words.ts';

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
        ...(at === undefined ? {} : { at: new Date(momentOf(at)).toISOString() }),
      };
      return (await api.call('explainNotification', { body }, { signal })).data;
    },
  });
  return (
    <NotificationsArea name={areaWords.part.why} note={words.explain.note}>
      <Question />
      <Read answer={data} names={names} error={error ?? namesError} />
    </NotificationsArea>
  );
}

function Read({ answer, names, error }: { answer: readonly ExplainedGroup[] | undefined; names: Names | undefined; error: Error | null }) {
  if (answer && names) return <Answer groups={answer} names={names} />;
  return error ? <ReadingFailed error={error} what={words.explain.what} /> : <Reading />;
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
        {words.explain.if}{' '}
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
        {words.explain.at}{' '}
        <select className="control" value={router} onChange={({ target }) => change({ router: orNone(target.value) })}>
          <option value="">{words.explain.noSite}</option>
          {routers.values().map(({ id, identity }) => (
            <option key={id} value={id}>
              {identity}
            </option>
          ))}
        </select>
      </label>
      <label className="t2 dim">
        {words.explain.on}{' '}
        <input className="control" type="datetime-local" value={at} onChange={({ target }) => change({ at: orNone(target.value) })} />
      </label>
      <span className="t2 faint">{at === '' ? words.explain.now : words.explain.zone(shownZone())}</span>
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
        {told === 0 ? <b className="c-not">{words.explain.nobody}</b> : <b>{words.explain.told(told)}</b>}
      </p>
      {hearing.map((group) => (
        <Section key={group.group_id} title={<GroupLink group={group} />} small={holdOf(group)}>
          <ul className="form-lines">
            {group.recipients.map((line, index) => (
              <li key={index} className="test-line">
                <b className="b">{nameOf(line, names)}</b> <span className="dim">{words.explain.by(channelName(line.channel))}</span>
                <br />
                <Outcome line={line} />
              </li>
            ))}
            {group.recipients.length === 0 ? <li className="hint">{words.explain.empty}</li> : null}
          </ul>
        </Section>
      ))}
      {others.length === 0 ? null : (
        <Section title={words.explain.others} small={`${others.length}`}>
          {router === undefined && others.some(({ reason }) => reason === 'other_sites') ? (
            <p className="hint">{words.explain.sites}</p>
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
      {until === null ? wouldBeWords(reason) : fill(words.explain.until, { reason: wouldBeWords(reason), time: <Moment at={until} /> })}
    </b>
  );
}

type Line = ExplainedGroup['recipients'][number];

function nameOf({ user_id: userId, target }: Line, names: Names): string {
  return userId === null ? (target ?? words.explain.removedChannel) : (names.members.get(userId)?.email ?? words.explain.left);
}

function Outcome({ line: { state, reason, until, address } }: { line: Line }) {
  return (
    <>
      <span className="lamp">
        <WorkLamp work={state === 'sent' ? 'done' : state === 'held' ? 'waiting' : 'failed'} />
        <span className={state === 'withheld' ? 'b c-not' : ''}>{words.explain.outcome[state]}</span>
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
