import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { DevicesTable } from './devices-table.tsx';

/** Every device behind any router of the team: found by name, maker, address. */
export function DevicesPage() {
  const { q = '' } = useSearch({ from: '/devices' });
  const navigate = useNavigate({ from: '/devices' });
  const asked = useDeferredValue(q.trim());
  return (
    <>
      <PageHead title="Devices" />
      <FilterBox
        value={q}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
        placeholder="Name, maker, IP or MAC address"
        count={null}
      />
      <DevicesTable
        isOfTeam
        label="Devices"
        query={asked === '' ? {} : { search: asked }}
        empty={asked === '' ? 'What routers see in their ARP tables and DHCP leases would be here.' : 'No device matches.'}
      />
    </>
  );
}
