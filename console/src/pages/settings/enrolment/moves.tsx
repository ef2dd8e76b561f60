import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { RouterMove } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { words } from './words.ts';

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
    <Section title={words.moves.title}>
      <ShortTable<RouterMove>
        label={words.moves.title}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          {
            title: words.moves.router,
            width: 'minmax(120px, 1fr)',
            className: 'el',
            cell: ({ router_id: routerId, identity }) => (
              <Link to="/routers/$routerId" params={{ routerId }} className="id b">
                {identity}
              </Link>
            ),
          },
          { title: words.moves.has, width: 'minmax(90px, 1fr)', className: 'el', cell: ({ from_agent: { name } }) => name },
          {
            title: words.moves.reports,
            width: 'minmax(120px, 1.4fr)',
            className: 'el',
            cell: (move) => words.moves.reportedBy(move.to_agent.name, move.to_address),
          },
          {
            title: words.moves.serial,
            width: 'minmax(100px, 1fr)',
            className: 'id dim el',
            isWide: true,
            cell: ({ hardware_id: id }) => id,
          },
          { title: words.moves.since, width: '90px', className: 'dim', cell: ({ created_at: at }) => <Moment at={at} /> },
          {
            title: words.moves.actions,
            width: '160px',
            className: 'row-acts',
            cell: (move) => (
              <>
                <Act does={words.moves.approve} move={move} onAct={() => setAsked({ kind: 'approve', move })} />
                {move.state === 'refused' ? (
                  <span className="dim t2">{words.moves.refused}</span>
                ) : (
                  <Act does={words.moves.refuse} move={move} onAct={() => setAsked({ kind: 'refuse', move })} />
                )}
              </>
            ),
          },
        ]}
        empty={<Empty title={words.moves.empty}>{words.moves.emptyText}</Empty>}
      />
      {asked === undefined ? null : <Decide {...asked} onClose={close} />}
    </Section>
  );
}

function Act({ does, move, onAct }: { does: string; move: RouterMove; onAct: () => void }) {
  return (
    <button type="button" className="btn quiet sm" onClick={onAct}>
      {does}
      <span className="sr"> {words.moves.which(move.identity)}</span>
    </button>
  );
}

function Decide({ kind, move: { id, identity, from_agent: from, to_agent: to }, onClose }: Asked & { onClose: () => void }) {
  const shared = { input: { path: { move_id: id } }, stale: ['router-moves', 'faults', 'router'], onClose };
  return kind === 'approve' ? (
    <Confirm title={words.approve.title(identity, to.name)} action={words.approve.act} operation="approveRouterMove" {...shared}>
      <p>{words.approve.about(from.name, to.name)}</p>
    </Confirm>
  ) : (
    <Confirm title={words.refuse.title(identity, from.name)} action={words.refuse.act} operation="refuseRouterMove" {...shared}>
      <p>{words.refuse.about(to.name)}</p>
    </Confirm>
  );
}
