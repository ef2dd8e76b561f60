import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouterMove } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';

interface Asked {
  kind: 'approve' | 'refuse';
  move: RouterMove;
}

/** Routers that another agent reports than the one that has them. */
export function Moves() {
  const list = useList('router-moves', 'listRouterMoves', { query: { limit: 100 } });
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <Section title="Routers that wait for a move">
      <ShortTable<RouterMove>
        label="Routers that wait for a move"
        list={list}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Router',
            width: 'minmax(120px, 1fr)',
            className: 'el',
            cell: ({ router_id: routerId, identity }) => (
              <Link to="/routers/$routerId" params={{ routerId }} className="id b">
                {identity}
              </Link>
            ),
          },
          { title: 'Has it', width: 'minmax(90px, 1fr)', className: 'el', cell: ({ from_agent: { name } }) => name },
          {
            title: 'Reports it',
            width: 'minmax(120px, 1.4fr)',
            className: 'el',
            cell: (move) => `${move.to_agent.name}, from ${move.to_address}`,
          },
          { title: 'Serial number', width: 'minmax(100px, 1fr)', className: 'id dim el', isWide: true, cell: ({ hardware_id: id }) => id },
          { title: 'Since', width: '90px', className: 'dim', cell: ({ created_at: at }) => <Moment at={at} /> },
          {
            title: 'Actions',
            width: '160px',
            className: 'row-acts',
            cell: (move) => (
              <>
                <Act does="Approve" move={move} onAct={() => setAsked({ kind: 'approve', move })} />
                {move.state === 'refused' ? (
                  <span className="dim t2">refused</span>
                ) : (
                  <Act does="Refuse" move={move} onAct={() => setAsked({ kind: 'refuse', move })} />
                )}
              </>
            ),
          },
        ]}
        empty={
          <Empty title="No router waits.">When an agent reports a router that another one has, it is listed here until you decide.</Empty>
        }
      />
      {asked === undefined ? null : <Decide {...asked} onClose={close} />}
    </Section>
  );
}

function Act({ does, move, onAct }: { does: string; move: RouterMove; onAct: () => void }) {
  return (
    <button type="button" className="btn quiet sm" onClick={onAct}>
      {does}
      <span className="sr"> the move of {move.identity}</span>
    </button>
  );
}

function Decide({ kind, move: { id, identity, from_agent: from, to_agent: to }, onClose }: Asked & { onClose: () => void }) {
  const shared = { input: { path: { move_id: id } }, stale: ['router-moves', 'faults', 'router'], onClose };
  return kind === 'approve' ? (
    <Confirm title={`Give ${identity} to ${to.name}?`} action="Approve the move" operation="approveRouterMove" {...shared}>
      <p>
        {to.name} gets the router at once, with its jobs, backups and history. {from.name} loses it. A serial number is no proof: make sure
        that {to.name} is an agent of yours that may have it.
      </p>
    </Confirm>
  ) : (
    <Confirm title={`Leave ${identity} with ${from.name}?`} action="Refuse the move" operation="refuseRouterMove" {...shared}>
      <p>The claim of {to.name} is not shown as a fault again. You can still approve it later.</p>
    </Confirm>
  );
}
