import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { useFleet } from '../../../data/use-fleet.ts';
import type { Happened } from '../../../data/last-events.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { words } from './words.ts';

/** What has happened since this page was opened, newest first. */
export function LastEvents() {
  const { events, routers } = useFleet();
  const list = useSyncExternalStore(events.subscribe, () => events.list);
  return (
    <Section title={words.events.title} small={words.events.since}>
      {list.length === 0 ? <p className="empty">{words.events.none}</p> : null}
      {list.map((happened) => (
        <div className="line event" key={happened.key}>
          <Moment at={happened.at} className="faint t2" />
          <span className="el t2">
            <What happened={happened} name={routers.get(happened.routerId ?? '')?.identity} />
          </span>
        </div>
      ))}
    </Section>
  );
}

function What({ happened: { type, routerId, detail }, name }: { happened: Happened; name: string | undefined }) {
  return (
    <>
      {name === undefined || routerId === undefined ? null : (
        <Link to="/routers/$routerId" params={{ routerId }} search={{}} className="b id">
          {name}
        </Link>
      )}{' '}
      {type}
      {detail === '' ? null : <span className="dim">, {wordOf(detail)}</span>}
    </>
  );
}
