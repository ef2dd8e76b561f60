import { useParams } from '@tanstack/react-router';
import { DevicesTable } from '../../devices/devices-table.tsx';
import { words } from './words.ts';

/** The devices that one router sees. */
export function DevicesTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  return (
    <div className="tab-body">
      <DevicesTable label={words.devices.label} query={{ router_id: routerId }} empty={words.devices.none} />
    </div>
  );
}
