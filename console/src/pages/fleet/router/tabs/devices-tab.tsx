import { useParams } from '@tanstack/react-router';
import { DevicesTable } from '../../devices/devices-table.tsx';

/** The devices that one router sees. */
export function DevicesTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  return (
    <div className="tab-body">
      <DevicesTable label="Devices of this router" query={{ router_id: routerId }} empty={NONE} />
    </div>
  );
}

const NONE = 'What this router sees in its ARP table and its DHCP leases would be here. The agent reads them about once a minute.';
