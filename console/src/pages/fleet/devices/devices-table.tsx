import { useState } from 'react';
import type { Device, Input } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { useWrite } from '../../../data/use-write.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Outcome, TextField } from '../../../parts/form.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { useIsPhone } from '../../../parts/use-is-phone.ts';
import { useMay } from '../../../session/use-may.ts';

interface Props {
  label: string;
  query: NonNullable<Input<'listDevices'>['query']>;
  empty: string;
  /** Names the router that sees each device. */
  isOfTeam?: boolean;
}

/** Devices behind routers; people who may can give each a name. */
export function DevicesTable({ label, query, empty, isOfTeam = false }: Props) {
  const list = useList('devices', 'listDevices', { query: { limit: 100, ...query } });
  const [named, setNamed] = useState<Device>();
  const mayName = useMay('operator');
  const isPhone = useIsPhone();
  const columns: readonly Column<Device>[] = [
    {
      title: 'Device',
      width: 'minmax(150px, 1.4fr)',
      className: 'el',
      // A card has no room for a column of actions.
      cell: (device) => (isPhone && mayName ? <NameKey device={device} onName={setNamed} /> : <Name device={device} />),
    },
    {
      title: 'Address',
      width: 'minmax(110px, .8fr)',
      className: 'el id',
      cell: ({ current_ip: ip }) => ip?.ip_address ?? <span className="dim">gone</span>,
    },
    { title: 'MAC', width: '134px', className: 'id dim', isWide: true, cell: ({ mac_address: mac }) => mac },
    {
      title: 'Maker',
      width: 'minmax(90px, 1fr)',
      className: 'el dim',
      isWide: true,
      cell: ({ manufacturer, locally_administered: isMadeUp }) => manufacturer ?? (isMadeUp ? 'address made by software' : ''),
    },
    isOfTeam
      ? { title: 'Router', width: 'minmax(110px, 1fr)', className: 'el id', cell: ({ router_id: id }) => <RouterName id={id} /> }
      : { title: 'Interface', width: 'minmax(80px, .7fr)', className: 'el dim', cell: ({ current_ip: ip }) => ip?.interface ?? '' },
    { title: 'Last seen', width: '90px', className: 'num dim', cell: ({ last_seen_at: at }) => <Moment at={at} /> },
    ...(mayName ? [naming(setNamed)] : []),
  ];
  return (
    <>
      <RecordTable
        label={label}
        columns={columns}
        list={list}
        keyOf={({ mac_address: mac, site_id: site }) => `${mac} ${site}`}
        empty={empty}
      />
      {named ? <NameDialog device={named} onClose={() => setNamed(undefined)} /> : null}
    </>
  );
}

function naming(onName: (device: Device) => void): Column<Device> {
  return {
    title: 'Actions',
    width: '68px',
    className: 'num',
    isWide: true,
    cell: (device) => (
      <button type="button" className="btn quiet sm" onClick={() => onName(device)}>
        Name
        <span className="sr"> {device.mac_address}</span>
      </button>
    ),
  };
}

function NameKey({ device, onName }: { device: Device; onName: (device: Device) => void }) {
  return (
    <button type="button" className="as-text" onClick={() => onName(device)}>
      <Name device={device} />
      <span className="sr">, name {device.mac_address}</span>
    </button>
  );
}

function Name({ device: { alias, hostname, mac_address: mac } }: { device: Device }) {
  if (alias !== null) {
    return (
      <>
        <b className="b">{alias}</b> {hostname === null ? null : <span className="dim">{hostname}</span>}
      </>
    );
  }
  return hostname === null ? <span className="id dim">{mac}</span> : <span>{hostname}</span>;
}

function RouterName({ id }: { id: string | null }) {
  const router = useRouterRecord(id ?? '');
  if (!router) return null;
  return <AppLink href={`/routers/${router.id}`}>{router.identity}</AppLink>;
}

function NameDialog({ device, onClose }: { device: Device; onClose: () => void }) {
  const [alias, setAlias] = useState(device.alias ?? '');
  const write = useWrite('nameDevice', ['devices']);
  async function answered(result: Promise<unknown>): Promise<void> {
    if ((await result) !== undefined) onClose();
  }
  return (
    <Dialog title={`Name ${device.hostname ?? device.mac_address}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answered(write.send({ path: { macAddress: device.mac_address }, body: { alias } }));
        }}
      >
        <TextField
          label="Name"
          name="alias"
          value={alias}
          onChange={setAlias}
          state={write.state}
          hint="At all sites of your team. Empty: no name."
        />
        <Outcome state={write.state} fields={['alias']} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
