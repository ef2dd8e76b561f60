import './terminals.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useFleet, useRoutersVersion } from '../../data/use-fleet.ts';
import { useList } from '../../data/use-list.ts';
import { useOpeners } from '../../data/use-names.ts';
import { FilterBox } from '../../parts/filter-box.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordTable } from '../../parts/record-table.tsx';
import { columnsOf } from './columns.tsx';
import { terminalsFilter } from './filter.ts';
import { useEnd } from './use-end.tsx';
import { words } from './words.ts';

/** Terminals of all routers, newest first: who has or had a shell where, and why. */
export function TerminalsPage() {
  const { q = '' } = useSearch({ from: '/terminals' });
  const navigate = useNavigate({ from: '/terminals' });
  const { routers } = useFleet();
  const version = useRoutersVersion();
  const { query, wrong } = useMemo(() => {
    void version;
    return terminalsFilter({ q }, routers.values());
  }, [q, routers, version]);
  const list = useList('terminals', 'listTerminals', { query: { ...query, limit: 200, total: 'true' } });
  const openerOf = useOpeners();
  const { end, outcome } = useEnd();
  return (
    <>
      <PageHead title={words.terminals} note={words.list.note} />
      <FilterBox
        value={q}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
        placeholder={words.list.filter}
        hint={words.list.filterHint}
        wrong={wrong}
        count={list.total === undefined ? undefined : words.list.count(list.total)}
      />
      {outcome}
      <RecordTable
        label={words.terminals}
        columns={columnsOf({ openerOf, onEnd: end })}
        list={list}
        keyOf={({ id }) => id}
        empty={
          q === '' ? (
            <p>
              <b>{words.list.empty}</b> {words.list.emptyHint}
            </p>
          ) : (
            <p>
              <b>{words.list.noMatch}</b>
            </p>
          )
        }
      />
    </>
  );
}
