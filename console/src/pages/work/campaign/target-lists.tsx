import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { CampaignTarget } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { lengthOf } from '../../../parts/times.ts';
import { WorkLamp, workWord } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { reasonWords } from '../words.ts';
import { words, workOfTarget } from './words.ts';

/** Lines of the lists beside the matrix. */
const BESIDE = 6;
const STEP = 100;
const BAD = new Set<Work>(['failed', 'rolled_back', 'unknown', 'expired']);

/** Which routers now. */
export function RunningNow({ targets, now }: { targets: readonly CampaignTarget[]; now: number }) {
  const running = targets.filter(({ status }) => status === 'running' || status === 'pending');
  if (running.length === 0) return null;
  return (
    <Section title={words.targets.underWay} small={running.length}>
      {running.slice(0, BESIDE).map((target) => (
        <div className="line target" key={target.router_id}>
          <WorkLamp work={workOfTarget(target)} />
          <TargetLink target={target} />
          <span className="num dim">
            {target.status === 'pending' ? words.targets.waits(lengthSince(target.started_at, now)) : lengthSince(target.started_at, now)}
          </span>
        </div>
      ))}
      <More targets={running} work="running" />
    </Section>
  );
}

function lengthSince(at: string | null, now: number): string {
  return at === null ? '' : lengthOf(now - Date.parse(at));
}

export function NotAsWished({ targets }: { targets: readonly CampaignTarget[] }) {
  const bad = targets.filter((target) => BAD.has(workOfTarget(target)));
  if (bad.length === 0) return null;
  return (
    <Section title={words.targets.notAsWished} small={bad.length}>
      {bad.slice(0, BESIDE).map((target) => (
        <div className="line target two" key={target.router_id}>
          <WorkLamp work={workOfTarget(target)} />
          <span>
            <TargetLink target={target} />
            <br />
            <span className="dim">{reasonWords(target.reason) || workWord(workOfTarget(target))}</span>
          </span>
          <Moment at={target.settled_at} className="num faint" />
        </div>
      ))}
      <More targets={bad} work={workOfTarget(bad[0]!)} />
    </Section>
  );
}

function More({ targets, work }: { targets: readonly CampaignTarget[]; work: Work }) {
  if (targets.length <= BESIDE) return null;
  return (
    <p className="line">
      <Link to="." search={{ show: work }} replace className="hand">
        {words.targets.more(targets.length - BESIDE)}
      </Link>
    </p>
  );
}

/** All routers with one result. */
export function TargetsOf({ targets, work, onClose }: { targets: readonly CampaignTarget[]; work: Work; onClose: () => void }) {
  const [count, setCount] = useState(STEP);
  const found = targets.filter((target) => matches(target, work));
  return (
    <Section
      title={words.targets.with(workWord(work))}
      small={found.length}
      aside={
        <button type="button" className="btn quiet sm" onClick={onClose}>
          {words.targets.close}
        </button>
      }
    >
      {found.length === 0 ? <p className="empty">{words.targets.none}</p> : null}
      {found.slice(0, count).map((target) => (
        <div className="line target" key={target.router_id}>
          <WorkLamp work={workOfTarget(target)} />
          <span className="el">
            <TargetLink target={target} /> <span className="dim">{reasonWords(target.reason)}</span>
          </span>
          <Moment at={target.settled_at ?? target.started_at} className="num dim" />
        </div>
      ))}
      {found.length > count ? (
        <button type="button" className="btn quiet" onClick={() => setCount(count + STEP)}>
          {words.targets.more(found.length - count)}
        </button>
      ) : null}
    </Section>
  );
}

function matches(target: CampaignTarget, work: Work): boolean {
  const own = workOfTarget(target);
  // The figures count what was undone as failed, and what was taken back as never started.
  if (work === 'failed') return own === 'failed' || own === 'rolled_back';
  if (work === 'skipped') return own === 'skipped' || own === 'canceled';
  return own === work;
}

/** Leads to the router's job; before there is one, to the router. */
export function TargetLink({ target }: { target: CampaignTarget }) {
  const { routers } = useFleet();
  const name = routers.get(target.router_id)?.identity ?? words.targets.removed(target.router_id.slice(-8));
  if (target.job_id === null)
    return (
      <Link to="/routers/$routerId" params={{ routerId: target.router_id }} className="id b">
        {name}
      </Link>
    );
  return (
    <Link to="/jobs/$routerId/$jobId" params={{ routerId: target.router_id, jobId: target.job_id }} className="id b">
      {name}
    </Link>
  );
}
