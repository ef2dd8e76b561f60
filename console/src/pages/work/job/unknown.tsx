import { Link } from '@tanstack/react-router';
import type { JobDetail } from '../../../../../client/browser.ts';
import { secondsTime } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';
import { checksOf, cautionOf } from '../run/caution.ts';

const HAPPENED: Record<string, string> = {
  interrupted: 'The agent stopped while the script ran',
  router_rebooted: 'The router rebooted while the script ran',
  agent_forgot: 'The agent came back without its memory of this job',
  agent_revoked: 'Its agent was revoked before it told a result',
  timed_out: 'No result came in the time that it had',
};

/** A job whose outcome nobody knows: what is certain, what is not, and where to look before anything is repeated. Never a plain "retry". */
export function Unknown({ job, agentName }: { job: JobDetail; agentName: string | null }) {
  const mayRun = useMay('operator');
  const checks = checksOf(job.script ?? '').slice(0, 3);
  return (
    <div className="three" role="group" aria-label="What is known of the outcome">
      <div>
        <h3>Certain</h3>
        <ul>
          {certainties(job, agentName).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
      <div>
        <h3>Not certain</h3>
        <ul>
          {doubts(job).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
      <div>
        <h3>Look, then decide</h3>
        {mayRun
          ? checks.map((command) => (
              <p key={command}>
                <Link to="/run" search={{ routers: job.router_id, command }} className="hand mono">
                  {command}
                </Link>
              </p>
            ))
          : null}
        <p>
          <Link to="/routers/$routerId/backups" params={{ routerId: job.router_id }} className="hand">
            Compare its backups
          </Link>
        </p>
        <p className="dim">Running it again may do everything a second time. A result that still comes corrects this page.</p>
      </div>
    </div>
  );
}

function certainties(job: JobDetail, agentName: string | null): string[] {
  const agent = agentName === null ? 'Its agent' : `Agent ${agentName}`;
  return [
    ...(job.accepted_at === null ? [] : [`${agent} took it at ${secondsTime(Date.parse(job.accepted_at))}`]),
    job.started_at === null ? 'Nobody saw the script begin' : `The script began at ${secondsTime(Date.parse(job.started_at))}`,
    ...(job.reason === null ? [] : [HAPPENED[job.reason] ?? job.reason.replaceAll('_', ' ')]),
    'It is never run again by itself',
  ];
}

function doubts(job: JobDetail): string[] {
  const lines = [...cautionOf(job.script ?? '').lines];
  const what = lines.length === 0 ? 'Whether the script' : `Whether ${linesWords(lines)}`;
  return [
    `${what} took effect wholly, partly or not at all`,
    ...(job.guard === null || job.guard.state === 'disarmed' ? [] : ['Whether the undo guard has undone it']),
    ...(job.undo_unless_reachable_seconds !== null && job.guard === null ? ['Whether the undo guard was armed'] : []),
  ];
}

function linesWords(lines: readonly number[]): string {
  const [first, last] = [lines[0]!, lines.at(-1)!];
  return first === last ? `line ${first}` : `lines ${first} to ${last}`;
}
