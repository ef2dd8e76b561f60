import './now.css';
import { Link, Navigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import type { Overview } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useStateCounts } from '../../../frame/shelf.tsx';
import { AppLink } from '../../../parts/app-link.tsx';
import { lazyPart } from '../../../parts/lazy-part.ts';
import { Lamp } from '../../../parts/lamp.tsx';
import type { RouterState } from '../../../parts/lamp.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { numberWords } from '../../../parts/sizes.ts';
import { wordOf } from '../../../parts/state-words.ts';
import { useMay } from '../../../session/use-may.ts';
import { Board } from './board.tsx';
import { LastEvents } from './last-events.tsx';
import { OpenNow } from './open-now.tsx';
import { sentenceOf, whyNone } from './sentence.ts';
import { ToHandle } from './to-handle.tsx';
import { words } from './words.ts';

const ORDER: readonly RouterState[] = ['answering', 'not_answering', 'agent_away', 'never_seen'];

const FirstRun = lazyPart(async () => ({ default: (await import('../../settings/first/first-run.tsx')).FirstRun }));

/** The fleet at this moment; for a team without an agent, the way to the first one; for a team with one router, its story. */
export function NowPage() {
  const { routers } = useFleet();
  // Only when the page is opened: one that somebody reads does not lead away because routers come or go.
  const [only] = useState(() => (routers.size === 1 ? routers.values()[0]!.id : undefined));
  if (only === undefined) return <NowOrFirst />;
  return <Navigate to="/routers/$routerId" params={{ routerId: only }} search={{}} state={{ isOfNow: true }} replace />;
}

function NowOrFirst() {
  const { routers } = useFleet();
  const { data: overview, error } = useRecord('overview', 'getOverview', {});
  // Once begun, the first run stays until the person leaves: it tells what the new agent does.
  const [isFirst, setFirst] = useState(false);
  if (!isFirst && overview && routers.size === 0 && agentsOf(overview) === 0) setFirst(true);
  if (!isFirst) return <Now overview={overview} error={error} />;
  return (
    <Suspense fallback={<FirstRunHead />}>
      <FirstRun />
    </Suspense>
  );
}

/** The page keeps a heading while its part is loaded. */
function FirstRunHead() {
  return (
    <>
      <div className="head">
        <h1 className="say">
          <b>{words.connect}</b>
        </h1>
      </div>
      <Reading />
    </>
  );
}

function agentsOf({ agents: { connected, away, unseen } }: Overview): number {
  return connected + away + unseen;
}

/** What does not answer and why, what is open, and the last 24 hours of every site. */
function Now({ overview, error }: { overview: Overview | undefined; error: Error | null }) {
  const counts = useStateCounts();
  const { routers } = useFleet();
  const hasRouters = routers.size > 0;

  const mayRun = useMay('operator');
  const mayConnect = useMay('admin');
  return (
    <>
      <div className="head">
        <h1 className="say">{hasRouters ? <OfRouters counts={counts} overview={overview} /> : <WithoutRouters />}</h1>
        {mayRun && hasRouters ? (
          <div className="acts">
            <AppLink href="/run" className="btn main-act">
              {words.run}
            </AppLink>
          </div>
        ) : null}
        {mayConnect && !hasRouters ? (
          <div className="acts">
            <AppLink href="/agents/new" className="btn main-act">
              {words.connectOne}
            </AppLink>
          </div>
        ) : null}
      </div>
      <div className="tally">
        {ORDER.map((state) => (
          <Link key={state} to="/routers" search={{ q: `state:${state}` }}>
            <Lamp state={state} size={13} />
            <strong>{numberWords(counts[state])}</strong>
            <em>{wordOf(state)}</em>
            <small className="tally-more">{overview ? moreOf(state, counts, overview) : ''}</small>
          </Link>
        ))}
      </div>
      <div className="cols now-cols">
        <div>
          <ToHandle overview={overview} />
          <LastEvents />
        </div>
        {overview ? <OpenNow overview={overview} /> : error ? <ReadingFailed error={error} what={words.openWhat} /> : null}
      </div>
      <Board />
    </>
  );
}

function OfRouters({ counts, overview }: { counts: ReturnType<typeof useStateCounts>; overview: Overview | undefined }) {
  const { strong, weak } = sentenceOf(counts, overview?.common_causes ?? []);
  return (
    <>
      <b>{strong}</b> {weak}
    </>
  );
}

function WithoutRouters() {
  const { data: agents } = useRecord('agents', 'listAgents', {});
  const live = agents?.filter(({ revoked_at: revokedAt, removed_at: removedAt }) => revokedAt === null && removedAt === null);
  return (
    <>
      <b>{words.noRouters}</b> {live === undefined ? '' : whyNone(live)}
    </>
  );
}

function moreOf(state: RouterState, counts: Record<RouterState, number>, { agents, open_faults: faults }: Overview): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  switch (state) {
    case 'answering':
      return all === 0 ? '' : words.tally.answering(Math.floor((counts.answering / all) * 1000) / 10, all);
    case 'not_answering':
      return faults.critical === 0 ? '' : words.tally.critical(faults.critical);
    case 'agent_away':
      return agents.connected + agents.away === 0 ? '' : words.tally.away(agents.away, agents.connected + agents.away);
    case 'never_seen':
      return agents.unseen === 0 ? '' : words.tally.unseen(agents.unseen);
  }
}
