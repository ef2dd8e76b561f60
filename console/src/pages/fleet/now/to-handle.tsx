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
import { words } from './words.ts';

/** More causes are in the list of routers. */
const MOST = 12;

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
  const small = causes.length === 0 ? undefined : words.handle.causes(causes.length);
  return (
    <Section title={words.handle.title} small={small} aside={away === 0 ? undefined : <AllAway count={away} />}>
      {causes.length === 0 ? <p className="empty">{routers.size === 0 ? words.handle.noRouter : words.handle.none}</p> : null}
      {shown.length === 0 ? null : <Heads />}
      {shown.map((cause) => (
        <Line key={cause.key} cause={cause} now={now} />
      ))}
      {causes.length > MOST ? <p className="empty t2">{words.handle.more(causes.length - MOST)}</p> : null}
      <Shared causes={overview?.common_causes ?? []} />
    </Section>
  );
}

/** Readers hear what each value is from the sentence of its link. */
function Heads() {
  const { cause, why, routers, since, look } = words.handle.heads;
  return (
    <div className="line handle heads m-no" aria-hidden="true">
      <span />
      <span>{cause}</span>
      <span>{why}</span>
      <span className="num">{routers}</span>
      <span className="num">{since}</span>
      <span className="num">{look}</span>
    </div>
  );
}

function AllAway({ count }: { count: number }) {
  return (
    <Link to="/routers" search={{ q: 'state:not_answering state:agent_away' }} className="hand">
      {words.handle.routers(count)}
    </Link>
  );
}

function Line({ cause, now }: { cause: Cause; now: number }) {
  const { state, name, reasons, count, since } = cause;
  return (
    <div className="line handle">
      <Lamp state={state} />
      <Look cause={cause} className="b el id">
        {name}
      </Look>
      <span className="el m-no">
        <span className={state === 'agent_away' ? 'c-away b' : 'c-not b'}>{reasons.map(wordOf).join(', ')}</span>
      </span>
      <span className="num m-no">{count}</span>
      <time className="num dim" dateTime={since} title={exactTime(since)}>
        {lengthOf(now - Date.parse(since))}
      </time>
      <span className="num">
        <Look cause={cause} className="hand">
          {cause.look.text}
        </Look>
      </span>
    </div>
  );
}

interface LookProps {
  cause: Cause;
  className: string;
  children: React.ReactNode;
}

/** Leads to where more is known of a cause. */
function Look({ cause: { look }, className, children }: LookProps) {
  if ('agentId' in look) {
    return (
      <AppLink href={`/agents/${look.agentId}`} className={className}>
        {children}
      </AppLink>
    );
  }
  const there = 'q' in look ? `/routers?q=${encodeURIComponent(look.q)}` : `/routers/${look.routerId}`;
  return (
    <AppLink href={there} className={className}>
      {children}
    </AppLink>
  );
}

/** Beyond agents: a site, a provider's address or a version that routers which do not answer have in common. */
function Shared({ causes }: { causes: Overview['common_causes'] }) {
  const others = causes.filter(({ kind }) => kind !== 'agent').slice(0, 3);
  if (others.length === 0) return null;
  const said = others.map(({ kind, value, name, routers_away: away, routers }) => words.handle.cause(kind, name ?? value, away, routers));
  return <p className="empty t2">{words.handle.common(said.join('; '))}</p>;
}
