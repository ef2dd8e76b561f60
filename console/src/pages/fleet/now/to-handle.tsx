import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Overview } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { Section } from '../../../parts/section.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { exactTime, lengthOf } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { causesOf } from './causes.ts';
import type { Cause } from './causes.ts';

/** More causes are in the list of routers. */
const MOST = 8;

/** What does not answer, grouped by what probably caused it, the longest first. */
export function ToHandle({ overview }: { overview: Overview | undefined }) {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  const now = useNow(10_000);
  const causes = useMemo(() => {
    void version;
    return causesOf(routers.values());
  }, [routers, version]);
  const away = causes.reduce((sum, { count }) => sum + count, 0);
  const shown = causes.slice(0, MOST);
  const small = causes.length === 0 ? undefined : `${causes.length} ${causes.length === 1 ? 'cause' : 'causes, longest first'}`;
  return (
    <Section title="To handle" small={small} aside={away === 0 ? undefined : <AllAway count={away} />}>
      {causes.length === 0 ? <p className="empty">Nothing. Every router that was ever seen answers.</p> : null}
      {shown.map((cause) => (
        <Line key={cause.key} cause={cause} now={now} />
      ))}
      {causes.length > MOST ? <p className="empty t2">{causes.length - MOST} more causes, each shorter than these.</p> : null}
      <Shared causes={overview?.common_causes ?? []} />
    </Section>
  );
}

function AllAway({ count }: { count: number }) {
  return (
    <Link to="/routers" search={{ q: 'state:not_answering state:agent_away' }} className="hand">
      {count === 1 ? 'The router' : `All ${count} routers`}
    </Link>
  );
}

function Line({ cause, now }: { cause: Cause; now: number }) {
  const { state, name, reasons, count, since } = cause;
  return (
    <div className="line handle">
      <Lamp state={state} />
      <b className="b el id">{name}</b>
      <span className="el m-no">
        <span className={state === 'agent_away' ? 'c-away b' : 'c-not b'}>{reasons.map(wordOf).join(', ')}</span>
      </span>
      <span className="num m-no">{count}</span>
      <time className="num dim" dateTime={since} title={exactTime(since)}>
        {lengthOf(now - Date.parse(since))}
      </time>
      <span className="num">
        <Look cause={cause} />
      </span>
    </div>
  );
}

function Look({ cause: { look } }: { cause: Cause }) {
  if ('agentId' in look) {
    return (
      <AppLink href={`/agents/${look.agentId}`} className="hand">
        {look.text}
      </AppLink>
    );
  }
  if ('q' in look) {
    return (
      <Link to="/routers" search={{ q: look.q }} className="hand">
        {look.text}
      </Link>
    );
  }
  return (
    <Link to="/routers/$routerId" params={{ routerId: look.routerId }} search={{}} className="hand">
      {look.text}
    </Link>
  );
}

/** Beyond agents: a site, a provider's address or a version that routers which do not answer have in common. */
function Shared({ causes }: { causes: Overview['common_causes'] }) {
  const others = causes.filter(({ kind }) => kind !== 'agent').slice(0, 3);
  if (others.length === 0) return null;
  return (
    <p className="empty t2">
      In common:{' '}
      {others
        .map(({ kind, value, name, routers_away: away, routers }) => `${kind} ${name ?? value}, ${away} of ${routers} routers`)
        .join('; ')}
      .
    </p>
  );
}
