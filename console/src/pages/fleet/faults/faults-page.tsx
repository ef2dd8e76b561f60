import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Fault } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { FAULT_COLUMNS } from '../../../parts/fault-columns.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { STATUSES } from './search.ts';
import type { FaultsSearch } from './search.ts';
import { words } from './words.ts';

const COLUMNS: readonly Column<Fault>[] = [
  FAULT_COLUMNS[0]!,
  FAULT_COLUMNS[1]!,
  { title: words.router, width: 'minmax(110px, 1fr)', className: 'el', cell: ({ rid }) => <RouterName id={rid} /> },
  ...FAULT_COLUMNS.slice(2),
];

/** What is wrong, or was, with any router of the team. */
export function FaultsPage() {
  const { status = 'open', severity } = useSearch({ from: '/faults' });
  const navigate = useNavigate({ from: '/faults' });
  const list = useList('faults', 'listTeamFaults', {
    query: {
      limit: 100,
      total: 'true',
      ...(status === 'all' ? {} : { status }),
      ...(severity === undefined ? {} : { severity: [severity] }),
    },
  });
  const change = (changed: FaultsSearch): void => void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  return (
    <>
      <PageHead title={words.title} sentence={sentenceOf(status, list.total)} />
      <div className="filter">
        <span className="seg" role="group" aria-label={words.status.label}>
          {STATUSES.map((name) => (
            <button
              key={name}
              type="button"
              className={name === status ? 'on' : ''}
              aria-pressed={name === status}
              onClick={() => change({ status: name })}
            >
              {words.status[name]}
            </button>
          ))}
        </span>
        <label className="t2 dim">
          {words.severity.label}{' '}
          <select
            className="control"
            value={severity ?? ''}
            onChange={({ target }) =>
              change({ severity: target.value === '' ? undefined : (target.value as NonNullable<FaultsSearch['severity']>) })
            }
          >
            <option value="">{words.severity.every}</option>
            <option value="critical">{words.severity.critical}</option>
            <option value="warning">{words.severity.warning}</option>
            <option value="info">{words.severity.info}</option>
          </select>
        </label>
        {list.total === undefined ? null : (
          <span className="count" role="status">
            {list.isTotalExact ? words.count(list.total) : words.countOver(list.total)}
          </span>
        )}
      </div>
      <RecordTable
        label={words.title}
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={status === 'open' ? words.noneOpen : words.noMatch}
      />
    </>
  );
}

function sentenceOf(status: string, total: number | undefined): React.ReactNode {
  if (total === undefined || status !== 'open') return undefined;
  if (total === 0) return <b>{words.sentence.none}</b>;
  return <b>{words.sentence.open(total)}</b>;
}

function RouterName({ id }: { id: string }) {
  const router = useRouterRecord(id);
  return (
    <AppLink href={`/routers/${id}`} className="id b">
      {router?.identity ?? words.removed}
    </AppLink>
  );
}
