import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Silence } from '../../../../../client/browser.ts';
import { useNames } from '../../../data/use-names.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { NotificationsArea } from '../area.tsx';
import { listOf, useAll } from '../directory.ts';
import { words as areaWords } from '../words.ts';
import { NewSilence } from './new-silence.tsx';
import { SILENCES, useSiteName } from './use-silences.ts';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

/** Times in which nobody hears of a router, a site or the whole team. */
export function SilencesPage() {
  const search = useSearch({ from: '/notifications/silences' });
  const navigate = useNavigate({ from: '/notifications/silences' });
  const maySilence = useMay('operator');
  const [isMaking, setMaking] = useState(false);
  const [ending, setEnding] = useState<Silence>();
  const isAsked = search.router !== undefined || search.site !== undefined;
  const close = (): void => {
    setMaking(false);
    if (isAsked) void navigate({ search: {}, replace: true });
  };
  return (
    <NotificationsArea
      name={areaWords.part.silences}
      note={words.note}
      actions={
        maySilence ? (
          <button type="button" className="btn main-act" onClick={() => setMaking(true)}>
            {words.make}
          </button>
        ) : undefined
      }
    >
      <Silences onEnd={maySilence ? setEnding : undefined} />
      {maySilence && (isMaking || isAsked) ? <NewSilence {...search} onClose={close} /> : null}
      {ending === undefined ? null : (
        <Confirm
          title={words.end.title}
          action={words.end.act}
          operation="deleteSilence"
          input={{ path: { silence_id: ending.id } }}
          stale={[SILENCES]}
          onClose={() => setEnding(undefined)}
        >
          <p>
            {ending.reason}. {Date.parse(ending.from) > serverNow() ? words.end.never : words.end.again}
          </p>
        </Confirm>
      )}
    </NotificationsArea>
  );
}

/** @param onEnd given to those who may end silences */
function Silences({ onEnd }: { onEnd: ((silence: Silence) => void) | undefined }) {
  const list = listOf(useAll(SILENCES, 'listSilences'));
  const ended = list.records.filter(({ until }) => Date.parse(until) <= serverNow());
  const others = list.records.filter((one) => !ended.includes(one));
  return (
    <>
      <Table
        label={words.table.label}
        list={{ ...list, records: others }}
        onEnd={onEnd}
        empty={<Empty title={words.empty.title}>{onEnd ? words.empty.make : words.empty.ask}</Empty>}
      />
      {ended.length === 0 ? null : (
        <Section title={words.ended.title} small={`${ended.length}`}>
          <Table label={words.ended.label} list={{ ...list, records: ended }} onEnd={undefined} empty={null} />
        </Section>
      )}
    </>
  );
}

interface TableProps {
  label: string;
  list: ReturnType<typeof listOf<Silence>>;
  onEnd: ((silence: Silence) => void) | undefined;
  empty: React.ReactNode;
}

function Table({ label, list, onEnd, empty }: TableProps) {
  const nameOf = useNames();
  return (
    <ShortTable<Silence>
      label={label}
      list={list}
      keyOf={({ id }) => id}
      columns={[
        { title: words.table.what, width: 'minmax(130px, 1fr)', className: 'el', cell: (silence) => <What silence={silence} /> },
        { title: words.table.why, width: 'minmax(150px, 1.6fr)', className: 'wrap', cell: ({ reason }) => reason },
        { title: words.table.state, width: '110px', cell: (silence) => <State silence={silence} /> },
        { title: words.table.from, width: '90px', className: 'dim', cell: ({ from }) => <Moment at={from} /> },
        { title: words.table.until, width: '90px', cell: ({ until }) => <Moment at={until} /> },
        {
          title: words.table.by,
          width: 'minmax(100px, .8fr)',
          className: 'el dim',
          isWide: true,
          cell: ({ created_by: by }) => nameOf(by),
        },
        ...(onEnd === undefined
          ? []
          : [
              {
                title: words.table.actions,
                width: '70px',
                className: 'row-acts',
                cell: (silence: Silence) => (
                  <button type="button" className="btn quiet sm" onClick={() => onEnd(silence)}>
                    {words.table.end}
                    <span className="sr"> {words.table.which(silence.reason)}</span>
                  </button>
                ),
              },
            ]),
      ]}
      empty={empty}
    />
  );
}

function What({ silence: { router_id: routerId, site_id: siteId } }: { silence: Silence }) {
  const siteName = useSiteName();
  if (routerId !== null) return <RouterLink id={routerId} />;
  if (siteId === null) return <b>{words.wholeTeam}</b>;
  return (
    <Link to="/sites/$siteId" params={{ siteId }} className="b">
      {siteName(siteId)}
    </Link>
  );
}

function State({ silence: { from, until, active_now: isActive } }: { silence: Silence }) {
  if (isActive)
    return (
      <span className="lamp">
        <WorkLamp work="running" />
        <b>{words.state.now}</b>
      </span>
    );
  const now = serverNow();
  return <span className="dim">{Date.parse(until) <= now ? words.state.ended : Date.parse(from) > now ? words.state.planned : ''}</span>;
}
