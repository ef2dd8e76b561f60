import { memo } from 'react';
import type { Router } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useDayRails } from '../../../data/use-rails.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Lamp, StateOf } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { RailPicture } from '../../../rails/rail-picture.tsx';
import { SMALL } from '../../../rails/shapes.ts';
import { RAILS_PX } from './columns.ts';
import type { ListColumn } from './columns.ts';
import type { SiteNames } from './search.ts';
import { words } from './words.ts';

interface RowProps {
  id: string;
  index: number;
  top: number;
  columns: readonly ListColumn[];
  tracks: string;
  sites: SiteNames;
  now: number;
  isActive: boolean;
  isSelected: boolean;
  isPhone: boolean;
  canSelect: boolean;
  /** What the address of a router keeps of this list's: `?q=core`. */
  kept: string;
  onToggle: (id: string) => void;
  onFocus: (id: string) => void;
}

/** One router. It renders again when this router changes, and not when others do. */
export const Row = memo(function Row(props: RowProps) {
  const { id, index, top, tracks, isActive, isSelected, isPhone, canSelect, onToggle, onFocus } = props;
  const router = useRouterRecord(id);
  if (!router) return null;
  return (
    <div
      className={`grow${isPhone ? ' card' : ''}${canSelect ? '' : ' no-pick'}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={canSelect ? isSelected : undefined}
      data-id={id}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => onFocus(id)}
      style={{ ...(isPhone ? {} : { gridTemplateColumns: tracks }), transform: `translateY(${top}px)` }}
    >
      {canSelect ? (
        <span role="gridcell" className="pick">
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isSelected}
            aria-label={words.grid.select(router.identity)}
            onChange={() => onToggle(id)}
          />
        </span>
      ) : null}
      {isPhone ? <Card router={router} now={props.now} kept={props.kept} /> : <Cells {...props} router={router} />}
    </div>
  );
});

function Cells({ columns, router, sites, now, kept }: RowProps & { router: Router }) {
  return columns.map(({ key, isNumber }) => (
    <span key={key} role="gridcell" className={`el${isNumber ? ' num' : ''}`}>
      <Cell name={key} {...{ router, sites, now, kept }} />
    </span>
  ));
}

interface CellProps extends Pick<RowProps, 'sites' | 'now' | 'kept'> {
  name: ListColumn['key'];
  router: Router;
}

function Cell({ name, router, sites, now, kept }: CellProps) {
  switch (name) {
    case 'state':
      return <StateOf state={router.state} reason={router.state_reason} />;
    case 'identity':
      return <Name router={router} kept={kept} />;
    case 'site':
      return <span className="dim">{sites.get(router.site_id ?? '')}</span>;
    case 'model':
      return <span className="dim">{router.model ?? router.board_name}</span>;
    case 'version':
      return (
        <span className="dim id" title={router.software_version}>
          {withoutChannel(router.software_version)}
        </span>
      );
    case 'address':
      return <span className="dim id">{router.last_seen_from}</span>;
    case 'agent':
      return <span className="dim">{router.agent_name}</span>;
    case 'since':
      return <Moment at={router.state_since} className="dim" />;
    case 'rails':
      return <DayRails router={router} now={now} width={RAILS_PX} />;
  }
}

/** A plain link: one that reckons its address by the routes costs a scrolling list a tenth of its time. */
function Name({ router, kept }: { router: Router; kept: string }) {
  return (
    <AppLink href={`/routers/${router.id}${kept}`} className="id b" tabIndex={-1}>
      {router.identity}
    </AppLink>
  );
}

export function DayRails({ router, now, width }: { router: Router; now: number; width?: number }) {
  const rails = useDayRails(router, now);
  return <RailPicture rails={rails} size={SMALL} {...(width === undefined ? {} : { width })} />;
}

const COLOURS: Record<string, string> = { not_answering: 'c-not', agent_away: 'c-away' };

/** On a phone: name and state, then why and what, then the rails. */
function Card({ router, now, kept }: { router: Router; now: number; kept: string }) {
  const { state, state_reason: reason, state_since: since } = router;
  return (
    <span role="gridcell" className="card-body">
      <span className="card-line">
        <Name router={router} kept={kept} />
        <span className={`lamp ${COLOURS[state ?? ''] ?? 'dim'}`}>
          {state === null ? null : <Lamp state={state} />} {state === null ? words.removed : wordOf(state)}
        </span>
      </span>
      <span className="card-line t2 dim">
        <span className="el">
          {fill(reason === null ? words.card.since : words.card.reasonSince, {
            reason: reason === null ? '' : wordOf(reason),
            time: <Moment at={since} />,
            model: router.model ?? router.board_name,
            version: withoutChannel(router.software_version),
          })}
        </span>
      </span>
      <DayRails router={router} now={now} />
    </span>
  );
}

/** `7.19.6 (stable)` is 7.19.6: the channel is in the title. */
function withoutChannel(version: string): string {
  return version.split(' ')[0]!;
}
