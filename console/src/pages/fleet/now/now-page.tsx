import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, lazy, useState } from 'react';
import type { Overview } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useStateCounts } from '../../../frame/shelf.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import type { RouterState } from '../../../parts/lamp.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { exactTime, shortTime } from '../../../parts/times.ts';
import { sentenceOf } from './sentence.ts';

const ORDER: readonly RouterState[] = ['answering', 'not_answering', 'agent_away', 'never_seen'];

const FirstRun = lazy(async () => ({ default: (await import('../../settings/first/first-run.tsx')).FirstRun }));

/** The fleet at this moment; for a team without an agent, the way to the first one. */
export function NowPage() {
  const { routers } = useFleet();
  const overview = useOverview();
  // Once begun, the first run stays until the person leaves: it tells what the new agent does.
  const [isFirst, setFirst] = useState(false);
  if (!isFirst && overview && routers.size === 0 && sum(overview.agents) === 0) setFirst(true);
  if (!isFirst) return <Now overview={overview} />;
  return (
    <Suspense>
      <FirstRun />
    </Suspense>
  );
}

function useOverview(): Overview | undefined {
  const { api } = useFleet();
  return useQuery({ queryKey: ['overview'], queryFn: async () => (await api.call('getOverview', {})).data }).data;
}

/** What does not answer, and what those routers have in common. */
function Now({ overview }: { overview: Overview | undefined }) {
  const counts = useStateCounts();
  const { strong, weak } = sentenceOf(counts, overview?.common_causes ?? []);
  return (
    <>
      <div className="head">
        <h1 className="say">
          <b>{strong}</b> {weak}
        </h1>
      </div>
      <div className="tally">
        {ORDER.map((state) => (
          <Link key={state} to="/routers" search={{ q: `state:${state}` }}>
            <Lamp state={state} size={13} />
            <strong>{counts[state]}</strong>
            <em>{wordOf(state)}</em>
          </Link>
        ))}
      </div>
      {overview ? <Details overview={overview} /> : null}
    </>
  );
}

function Details({ overview }: { overview: Overview }) {
  return (
    <div className="cols now-cols">
      <section>
        <div className="h2">
          <h2>Common causes</h2>
          <small>what routers that do not answer share</small>
        </div>
        {overview.common_causes.length === 0 ? <p className="empty">Nothing is shared by two or more routers that do not answer.</p> : null}
        {overview.common_causes.map(({ kind, value, name, routers, routers_away: away, since }) => (
          <div className="line cause" key={`${kind} ${value}`}>
            <span>
              {kind} <b className="id">{name ?? value}</b>
            </span>
            <span className="num">
              {away} of {routers} routers
            </span>
            <time className="num dim" dateTime={since} title={exactTime(since)}>
              since {shortTime(since)}
            </time>
          </div>
        ))}
      </section>
      <section>
        <div className="h2">
          <h2>Open now</h2>
        </div>
        <Figure name="agents connected" value={overview.agents.connected} of={sum(overview.agents)} />
        <Figure name="faults" value={sum(overview.open_faults)} />
        <Figure name="forwards" value={overview.open_forwards} />
        <Figure name="campaigns" value={overview.running_campaigns} />
        <Figure name="jobs waiting or running" value={overview.jobs_24h.pending + overview.jobs_24h.running} />
      </section>
    </div>
  );
}

function Figure({ name, value, of }: { name: string; value: number; of?: number }) {
  return (
    <div className="line figure">
      <span>{name}</span>
      <b className="num">{of === undefined ? value : `${value} of ${of}`}</b>
    </div>
  );
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
