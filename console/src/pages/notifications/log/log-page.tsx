import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Notification } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { fill } from '../../../parts/fill.tsx';
import { ReadingFailed } from '../../../parts/reading.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import { zoneOfTexts } from '../../../parts/times.ts';
import { NotificationsArea } from '../area.tsx';
import { useNames } from '../directory.ts';
import type { Names } from '../sentence.ts';
import { targetName, words as areaWords } from '../words.ts';
import { KIND_COLUMN, STATE_COLUMN, SUBJECT_COLUMN, TIME_COLUMN, whoColumn } from './message-columns.tsx';
import { readLogSearch } from './search.ts';
import type { LogSearch, MessageState } from './search.ts';
import { MESSAGES } from '../../../data/fleet.ts';
import { words } from './words.ts';

const STATES: readonly { value: MessageState; name: string }[] = [
  { value: 'sent', name: words.state.sent },
  { value: 'pending', name: words.state.pending },
  { value: 'held', name: words.state.held },
  { value: 'withheld', name: words.state.withheld },
  { value: 'superseded', name: words.state.superseded },
  { value: 'failed', name: words.state.failed },
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
    <NotificationsArea name={areaWords.part.log} note={words.log.note} isList>
      <Filter names={names} count={list.total} isExact={list.isTotalExact} />
      {names === undefined && error ? <ReadingFailed error={error} what={words.log.names} /> : null}
      <RecordTable<Notification>
        label={words.log.label}
        columns={[TIME_COLUMN, whoColumn(names), SUBJECT_COLUMN, KIND_COLUMN, { ...STATE_COLUMN, className: 'el' }]}
        list={list}
        keyOf={({ id }) => id}
        isWrapped
        empty={
          isFiltered ? (
            words.log.noMatch
          ) : (
            <p>
              <b>{words.log.empty}</b> {words.log.emptyText}
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
      <Choice label={words.log.to} value={to} onChange={(value) => change({ to: value })} all={words.log.everybody} options={receivers} />
      <Choice
        label={words.log.group}
        value={group}
        onChange={(value) => change({ group: value })}
        all={words.log.everyGroup}
        options={groups}
      />
      <Choice label={words.log.state} value={state} onChange={(value) => change({ state: value })} all={words.log.any} options={STATES} />
      <span className="count" role="status">
        {count === undefined ? null : fill(words.log.count(count, isExact), { count: <b>{count.toLocaleString('en')}</b> })}
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
