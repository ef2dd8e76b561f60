import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { JobDetail } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { CopyButton } from '../../../parts/copy.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { ScriptView } from '../../../parts/script-view.tsx';
import { Section } from '../../../parts/section.tsx';
import { exactTime, shortTime } from '../../../parts/times.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { useFleet } from '../../../data/use-fleet.ts';
import { DiffView } from '../backups/diff-view.tsx';
import { cautionOf } from '../run/caution.ts';
import { workOf } from '../words.ts';
import { Deliveries } from './deliveries.tsx';
import { GuardStrip } from './guard.tsx';
import { jobSentence } from './sentence.ts';
import { Timeline } from './timeline-view.tsx';
import { Unknown } from './unknown.tsx';
import '../work.css';

/** One job: what became of it and why, its timeline, its script and what it printed. */
export function JobPage() {
  const { routerId, jobId } = useParams({ from: '/jobs/$routerId/$jobId' });
  const path = { router_id: routerId, job_id: jobId };
  const job = useRecord('jobs', 'getJob', { path });
  if (job.error && !job.data) return <MissingRecord error={job.error} what="job" list={{ href: '/jobs', name: 'Jobs' }} />;
  if (!job.data) return <Reading />;
  return <Found job={job.data} readAt={job.dataUpdatedAt} />;
}

function Found({ job, readAt }: { job: JobDetail; readAt: number }) {
  const { routers } = useFleet();
  const timeline = useRecord('jobs', 'getJobTimeline', { path: { router_id: job.router_id, job_id: job.id } });
  const work = workOf(job);
  const agentName = routers.get(job.router_id)?.agent_name ?? null;
  const { strong, weak } = jobSentence(job, agentName);
  const isOver = job.status !== 'pending' && job.status !== 'running';
  return (
    <>
      <PageHead
        crumb={<Crumb job={job} by={timeline.data?.timeline.find(({ kind }) => kind === 'created')?.by?.name ?? null} />}
        title={
          <span className="named">
            <WorkLamp work={work} size={15} />
            <b>{job.description === '' ? 'Without a description' : job.description}.</b> <span>{strong}</span> {weak}
          </span>
        }
        actions={<Actions job={job} isOver={isOver} />}
      />
      <GuardStrip job={job} readAt={readAt} />
      {work === 'unknown' ? <Unknown job={job} agentName={agentName} /> : null}
      <div className="cols work-cols">
        <div>
          {timeline.data ? <Timeline items={timeline.data.timeline} isOver={isOver} /> : <Reading />}
          <Output job={job} />
          {job.make_backup && job.backup !== null ? <Changes job={job} /> : null}
        </div>
        <div>
          <Script job={job} />
          <Conditions job={job} />
          {job.notify_url === null ? null : <Deliveries routerId={job.router_id} jobId={job.id} />}
        </div>
      </div>
    </>
  );
}

function Crumb({ job, by }: { job: JobDetail; by: string | null }) {
  return (
    <>
      <Link to="/jobs" search={{}} className="hand" activeOptions={{ exact: true }}>
        Jobs
      </Link>{' '}
      / <RouterLink id={job.router_id} className="hand id" />
      <span title={exactTime(job.created_at)}>
        , made {shortTime(job.created_at)}
        {by === null ? '' : ` by ${by}`}
      </span>
      {job.campaign_id === null ? null : (
        <>
          {' in a '}
          <Link to="/campaigns/$campaignId" params={{ campaignId: job.campaign_id }} search={{}} className="hand">
            campaign
          </Link>
        </>
      )}
    </>
  );
}

function Actions({ job, isOver }: { job: JobDetail; isOver: boolean }) {
  const mayRun = useMay('operator');
  const [isCanceling, setCanceling] = useState(false);
  if (!mayRun) return null;
  return (
    <>
      {job.status === 'pending' ? (
        <button type="button" className="btn danger" onClick={() => setCanceling(true)}>
          Cancel the job
        </button>
      ) : null}
      {isOver ? (
        <Link to="/run" search={{ routers: job.router_id, mode: 'script', from: `${job.router_id}/${job.id}` }} className="btn">
          Run again
        </Link>
      ) : null}
      {isCanceling ? (
        <Confirm
          title="Cancel this job?"
          action="Cancel the job"
          operation="cancelJob"
          input={{ path: { router_id: job.router_id, job_id: job.id } }}
          stale={['jobs', 'overview']}
          onClose={() => setCanceling(false)}
        >
          <p>
            It has not begun, so its script will never run. If the agent begins it in this moment, the answer says so and the job goes on.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function Output({ job }: { job: JobDetail }) {
  const isEmpty = job.output === null || job.output === '';
  return (
    <Section title="What it said" aside={isEmpty ? undefined : <CopyButton text={job.output!} label="the output" />}>
      {job.error === null ? null : <p className="outcome c-not mono">{job.error}</p>}
      {isEmpty ? (
        <p className="empty">{emptyOutput(job)}</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
        <pre className="said" tabIndex={0} role="group" aria-label="Output">
          {job.output}
        </pre>
      )}
      {job.output_truncated ? <p className="hint">It said more than is kept.</p> : null}
    </Section>
  );
}

function emptyOutput({ status, output_truncated: isCut }: JobDetail): string {
  if (isCut) return 'The output was deleted to make room for newer ones.';
  if (status === 'pending' || status === 'running') return 'Nothing yet. The output comes with the end of the script.';
  return 'It printed nothing.';
}

function Script({ job }: { job: JobDetail }) {
  const script = job.script;
  if (script === null)
    return (
      <Section title="Script">
        <p className="empty">People with the role operator read scripts.</p>
      </Section>
    );
  const { lines } = cautionOf(script);
  return (
    <Section
      title="Script"
      small={lines.size > 0 ? '! lines that can lock you out' : undefined}
      aside={<CopyButton text={script} label="the script" />}
    >
      <ScriptView script={script} risky={lines} />
    </Section>
  );
}

function Conditions({ job }: { job: JobDetail }) {
  const facts: readonly [string, string][] = [
    ['Backup', job.make_backup ? 'before the script' : 'none'],
    ['Undo guard', job.undo_unless_reachable_seconds === null ? 'no' : guardWords(job)],
    ['Begins', job.express_execute ? 'at once, before others' : 'at the next check-in'],
    ['Is done', job.needs_acknowledgement ? 'when the script has ended' : 'when the agent has it on disk'],
    ['Longest run', `${job.timeout_seconds} s`],
    ['Waits until', shortTime(job.expires_at)],
    ['Id', job.id],
  ];
  return (
    <Section title="Conditions">
      <dl>
        {facts.map(([name, value]) => (
          <div className="line fact" key={name}>
            <dt className="faint">{name}</dt>
            <dd className="id el" title={value}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const GUARD_WORDS = { armed: 'armed', disarmed: 'taken away', fired: 'fired', unknown: 'nobody knows' } as const;

function guardWords({ undo_unless_reachable_seconds: seconds, guard }: JobDetail): string {
  return `${seconds} s${guard === null ? '' : `, ${GUARD_WORDS[guard.state]}`}`;
}

function Changes({ job }: { job: JobDetail }) {
  const changes = useRecord('backups', 'getJobChanges', { path: { router_id: job.router_id, job_id: job.id } });
  return (
    <Section title="What it changed" small="export before and after">
      {changes.data ? <DiffView diff={changes.data} /> : <p className="empty">{changes.error ? changes.error.message : 'Reading'}</p>}
    </Section>
  );
}
