import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Notification } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import { zoneOfTexts } from '../../../parts/times.ts';
import { NotificationsArea } from '../area.tsx';
import { useNames } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { targetName } from '../words.ts';
import { KIND_COLUMN, STATE_COLUMN, SUBJECT_COLUMN, TIME_COLUMN, whoColumn } from './message-columns.tsx';
import { readLogSearch } from './search.ts';
import type { LogSearch, MessageState } from './search.ts';
import { MESSAGES } from '../../../data/fleet.ts';

const STATES: readonly { value: MessageState; name: string }[] = [
  { value: 'sent', name: 'sent' },
  { value: 'pending', name: 'waiting' },
  { value: 'held', name: 'held until quiet hours or a mute end' },
  { value: 'withheld', name: 'not sent by a decision' },
  { value: 'superseded', name: 'replaced by a newer one' },
  { value: 'failed', name: 'given up' },
];

/** Every message, also those that nobody got, each with its reason. The filter is in the address. */
export function LogPage() {
  const { state, to, group } = useSearch({ from: '/notifications/log' });
  const { names, error } = useNames();
  const list = useList(MESSAGES, 'listNotifications', {
    query: {
      limit: 100,
      total: 'true',
      ...zoneOfTexts(),
      ...(state === undefined ? {} : { state: [state] }),
      ...(to === undefined ? {} : { recipient: to }),
      ...(group === undefined ? {} : { group_id: group }),
    },
  });
  const isFiltered = state !== undefined || to !== undefined || group !== undefined;
  return (
    <NotificationsArea
      name="Log"
      note="Who was told of what, and who was not, each with its reason. A message that was sent was taken by its provider; whether somebody read it is not known."
      isList
    >
      <Filter names={names} count={list.total} isExact={list.isTotalExact} />
      {names === undefined && error ? <ReadingFailed error={error} what="Names of people, channels and groups" /> : null}
      <RecordTable<Notification>
        label="Messages"
        columns={[TIME_COLUMN, whoColumn(names), SUBJECT_COLUMN, KIND_COLUMN, { ...STATE_COLUMN, className: 'el' }]}
        list={list}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            'No message matches.'
          ) : (
            <p>
              <b>Nothing has happened that a group is told of.</b> Outages, failed jobs and whatever else groups follow are listed here,
              with everybody who was told.
            </p>
          )
        }
      />
    </NotificationsArea>
  );
}

function Filter({ names, count, isExact }: { names: Names | undefined; count: number | undefined; isExact: boolean }) {
  const { state = '', to = '', group = '' } = useSearch({ from: '/notifications/log' });
  const navigate = useNavigate({ from: '/notifications/log' });
  const change = (changed: Partial<Record<keyof LogSearch, string>>): void =>
    void navigate({ search: readLogSearch({ state, to, group, ...changed }), replace: true });
  const receivers = [
    ...[...(names?.members.values() ?? [])].map(({ id, email }) => ({ value: id, name: email })),
    ...[...(names?.targets.values() ?? [])].map((target) => ({ value: target.id, name: targetName(target) })),
  ];
  const groups = [...(names?.groups.values() ?? [])].map(({ id, name }) => ({ value: id, name }));
  return (
    <div className="filter log-filter">
      <Choice label="To" value={to} onChange={(value) => change({ to: value })} all="everybody" options={receivers} />
      <Choice label="Group" value={group} onChange={(value) => change({ group: value })} all="every group" options={groups} />
      <Choice label="State" value={state} onChange={(value) => change({ state: value })} all="any" options={STATES} />
      <span className="count" role="status">
        {count === undefined ? null : (
          <>
            {isExact ? '' : 'over '}
            <b>{count.toLocaleString('en')}</b> {count === 1 ? 'message' : 'messages'}
          </>
        )}
      </span>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** What no choice means. */
  all: string;
  options: readonly { value: string; name: string }[];
}

function Choice({ label, value, onChange, all, options }: ChoiceProps) {
  return (
    <label className="t2 dim">
      {label}{' '}
      <select className="control" value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">{all}</option>
        {/* One that was removed is still asked for. */}
        {value === '' || options.some((option) => option.value === value) ? null : <option value={value}>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
