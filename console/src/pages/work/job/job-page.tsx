import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { JobDetail } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { CopyButton } from '../../../parts/copy.tsx';
import { fill } from '../../../parts/fill.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { ScriptView } from '../../../parts/script-view.tsx';
import { Section } from '../../../parts/section.tsx';
import { dueTime, exactTime, shortTime } from '../../../parts/times.ts';
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
import { words } from './words.ts';
import '../work.css';

/** One job: what became of it and why, its timeline, its script and what it printed. */
export function JobPage() {
  const { routerId, jobId } = useParams({ from: '/jobs/$routerId/$jobId' });
  const path = { router_id: routerId, job_id: jobId };
  const job = useRecord('jobs', 'getJob', { path });
  if (job.error && !job.data) return <MissingRecord error={job.error} what={words.job} list={{ href: '/jobs', name: words.jobs }} />;
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
            <b>{job.description === '' ? words.head.noDescription : job.description}.</b> <span>{strong}</span> {weak}
          </span>
        }
        actions={<Actions job={job} isOver={isOver} />}
      />
      <GuardStrip job={job} readAt={readAt} />
      {work === 'unknown' ? <Unknown job={job} agentName={agentName} /> : null}
      <div className="cols work-cols">
        <div>
          {timeline.data ? <Timeline items={timeline.data.timeline} job={job} isOver={isOver} /> : <Reading />}
          {job.error === null ? null : <Wrong error={job.error} />}
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
        {words.jobs}
      </Link>{' '}
      /{' '}
      {fill(job.campaign_id === null ? words.head.crumb : words.head.crumbInCampaign, {
        router: <RouterLink id={job.router_id} className="hand id" />,
        made: <span title={exactTime(job.created_at)}>{words.head.made(shortTime(job.created_at), by)}</span>,
        campaign:
          job.campaign_id === null ? null : (
            <Link to="/campaigns/$campaignId" params={{ campaignId: job.campaign_id }} search={{}} className="hand">
              {words.head.campaign}
            </Link>
          ),
      })}
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
          {words.head.cancel}
        </button>
      ) : null}
      {isOver ? (
        <Link to="/run" search={{ routers: job.router_id, mode: 'script', from: `${job.router_id}/${job.id}` }} className="btn">
          {words.head.runAgain}
        </Link>
      ) : null}
      {isCanceling ? (
        <Confirm
          title={words.cancel.title}
          action={words.cancel.cancel}
          keep={words.cancel.keep}
          operation="cancelJob"
          input={{ path: { router_id: job.router_id, job_id: job.id } }}
          stale={['jobs', 'overview']}
          onClose={() => setCanceling(false)}
        >
          <p>{words.cancel.what}</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** Apart from what the script printed: the router, its agent or the control plane says it. */
function Wrong({ error }: { error: string }) {
  return (
    <Section title={words.wrong}>
      <p className="outcome c-not mono">{error}</p>
    </Section>
  );
}

function Output({ job }: { job: JobDetail }) {
  const isEmpty = job.output === null || job.output === '';
  return (
    <Section title={words.output.title} aside={isEmpty ? undefined : <CopyButton text={job.output!} label={words.output.copy} />}>
      {isEmpty ? (
        <p className="empty">{emptyOutput(job)}</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
        <pre className="said" tabIndex={0} role="group" aria-label={words.output.output}>
          {job.output}
        </pre>
      )}
      {job.output_truncated ? <p className="hint">{words.output.isCut}</p> : null}
    </Section>
  );
}

function emptyOutput({ status, output_truncated: isCut }: JobDetail): string {
  if (isCut) return words.output.deleted;
  if (status === 'pending' || status === 'running') return words.output.nothingYet;
  return words.output.nothing;
}

function Script({ job }: { job: JobDetail }) {
  const script = job.script;
  if (script === null)
    return (
      <Section title={words.script.title}>
        <p className="empty">{words.script.mayNot}</p>
      </Section>
    );
  const { lines } = cautionOf(script);
  return (
    <Section
      title={words.script.title}
      small={lines.size > 0 ? words.script.risky : undefined}
      aside={<CopyButton text={script} label={words.script.copy} />}
    >
      <ScriptView script={script} risky={lines} />
    </Section>
  );
}

function Conditions({ job }: { job: JobDetail }) {
  const said = words.conditions;
  const facts: readonly [string, string][] = [
    [said.backup, job.make_backup ? said.backupFirst : said.noBackup],
    [said.guard, job.undo_unless_reachable_seconds === null ? said.noGuard : guardWords(job.undo_unless_reachable_seconds, job)],
    [said.begins, job.express_execute ? said.atOnce : said.atCheckIn],
    [said.isDone, job.needs_acknowledgement ? said.atEnd : said.onDisk],
    [said.longestRun, said.seconds(job.timeout_seconds)],
    [said.waitsUntil, dueTime(job.expires_at)],
    [said.id, job.id],
  ];
  return (
    <Section title={said.title}>
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

function guardWords(seconds: number, { guard }: JobDetail): string {
  return words.conditions.guardAfter(seconds, guard === null ? null : words.conditions.guardStates[guard.state]);
}

function Changes({ job }: { job: JobDetail }) {
  const changes = useRecord('backups', 'getJobChanges', { path: { router_id: job.router_id, job_id: job.id } });
  return (
    <Section title={words.changes.title} small={words.changes.what}>
      {changes.data ? (
        <DiffView diff={changes.data} />
      ) : (
        <p className="empty">{changes.error ? changes.error.message : words.changes.reading}</p>
      )}
    </Section>
  );
}
