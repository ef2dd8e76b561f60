import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { DevicesTable } from './devices-table.tsx';
import { words } from './words.ts';

/** Every device behind any router of the team: found by name, maker, address. */
export function DevicesPage() {
  const { q = '' } = useSearch({ from: '/devices' });
  const navigate = useNavigate({ from: '/devices' });
  const asked = useDeferredValue(q.trim());
  // The server looks for the whole text, and a MAC address has two letters or digits before its colon.
  const field = /^-?([a-z_]{3,}):/i.exec(asked)?.[1];
  const noMatch = field === undefined ? words.noMatch : words.noMatchField(field);
  return (
    <>
      <PageHead title={words.title} />
      <FilterBox
        value={q}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
        placeholder={words.filter}
        count={null}
      />
      <DevicesTable
        isOfTeam
        label={words.title}
        query={asked === '' ? {} : { search: asked }}
        empty={asked === '' ? words.none : noMatch}
      />
    </>
  );
}
