import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
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
      <div className="filter">
        <label className="fbox">
          <span className="sr">Search</span>
          <input
            type="search"
            value={q}
            placeholder="Name, maker, IP or MAC address"
            spellCheck={false}
            onChange={({ target }) => void navigate({ search: { q: target.value }, replace: true })}
          />
        </label>
      </div>
      <DevicesTable
        isOfTeam
        label="Devices"
        query={asked === '' ? {} : { search: asked }}
        empty={asked === '' ? 'What routers see in their ARP tables and DHCP leases would be here.' : 'No device matches.'}
      />
    </>
  );
}
