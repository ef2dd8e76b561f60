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
import { words } from './words.ts';

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
  const columns = isPhone
    ? phoneColumns(isOfTeam, mayName ? setNamed : undefined)
    : [...columnsOf(isOfTeam), ...(mayName ? [naming(setNamed)] : [])];
  return (
    <>
      <RecordTable
        label={label}
        columns={columns}
        list={list}
        // The same device may be behind several routers without a site.
        keyOf={({ mac_address: mac, site_id: site, router_id: router }) => `${mac} ${site ?? router}`}
        empty={empty}
      />
      {named ? <NameDialog device={named} onClose={() => setNamed(undefined)} /> : null}
    </>
  );
}

const SEEN: Column<Device> = {
  title: words.columns.seen,
  width: '90px',
  className: 'num dim',
  cell: ({ last_seen_at: at }) => <Moment at={at} />,
};

function columnsOf(isOfTeam: boolean): readonly Column<Device>[] {
  return [
    { title: words.columns.device, width: 'minmax(150px, 1.4fr)', className: 'el', cell: (device) => <Name device={device} /> },
    {
      title: words.columns.address,
      width: 'minmax(110px, .8fr)',
      className: 'el id',
      cell: ({ current_ip: ip }) => ip?.ip_address ?? <span className="dim">{words.gone}</span>,
    },
    { title: words.columns.mac, width: '134px', className: 'id dim', cell: ({ mac_address: mac }) => mac },
    { title: words.columns.maker, width: 'minmax(90px, 1fr)', className: 'el dim', cell: makerOf },
    isOfTeam
      ? {
          title: words.columns.router,
          width: 'minmax(110px, 1fr)',
          className: 'el id',
          cell: ({ router_id: id }) => <RouterName id={id} />,
        }
      : {
          title: words.columns.interface,
          width: 'minmax(80px, .7fr)',
          className: 'el dim',
          cell: ({ current_ip: ip }) => ip?.interface ?? '',
        },
    SEEN,
  ];
}

/** A card of two lines: what it is, where, and the deed; then what a person on site compares with a label, and when it was seen. */
function phoneColumns(isOfTeam: boolean, onName: ((device: Device) => void) | undefined): readonly Column<Device>[] {
  return [
    {
      title: words.columns.device,
      width: '',
      className: 'el',
      cell: (device) => (
        <>
          <Name device={device} />{' '}
          <span className="dim t2">{isOfTeam ? <RouterName id={device.router_id} /> : device.current_ip?.interface}</span>
        </>
      ),
    },
    ...(onName ? [naming(onName)] : [SEEN]),
    { title: words.columns.address, width: '', className: 'el dim t2', cell: detailsOf },
    ...(onName ? [SEEN] : []),
  ];
}

function makerOf({ manufacturer, locally_administered: isMadeUp }: Device): string {
  return manufacturer ?? (isMadeUp ? words.madeUp : '');
}

/** The MAC address first: the end of the line may be cut off, and it is on the label. */
function detailsOf(device: Device): string {
  return [device.mac_address, device.current_ip?.ip_address ?? words.gone, makerOf(device)].filter((text) => text !== '').join(', ');
}

function naming(onName: (device: Device) => void): Column<Device> {
  return {
    title: words.columns.actions,
    width: '68px',
    className: 'row-acts',
    cell: (device) => (
      <button type="button" className="btn quiet sm" onClick={() => onName(device)}>
        {words.name}
        <span className="sr"> {device.mac_address}</span>
      </button>
    ),
  };
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
    <Dialog title={words.dialog.title(device.hostname ?? device.mac_address)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answered(write.send({ path: { macAddress: device.mac_address }, body: { alias } }));
        }}
      >
        <TextField label={words.dialog.name} name="alias" value={alias} onChange={setAlias} state={write.state} hint={words.dialog.hint} />
        <Outcome state={write.state} fields={['alias']} onLookAgain={() => void answered(write.lookAgain())} />
        <div className="form-acts">
          <button type="button" className="btn" onClick={onClose}>
            {words.dialog.cancel}
          </button>
          <button type="submit" className="btn main-act" disabled={write.state.kind === 'sending'}>
            {words.dialog.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
