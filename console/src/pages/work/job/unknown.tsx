import { Link } from '@tanstack/react-router';
import type { JobDetail } from '../../../../../client/browser.ts';
import { secondsTime } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';
import { checksOf, cautionOf } from '../run/caution.ts';
import { happenedWords, words } from './words.ts';

/** A job whose outcome nobody knows: what is certain, what is not, and where to look before anything is repeated. Never a plain "retry". */
export function Unknown({ job, agentName }: { job: JobDetail; agentName: string | null }) {
  const mayRun = useMay('operator');
  const checks = checksOf(job.script ?? '').slice(0, 3);
  return (
    <div className="three" role="group" aria-label={words.unknown.title}>
      <div>
        <h3>{words.unknown.certain}</h3>
        <ul>
          {certainties(job, agentName).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
      <div>
        <h3>{words.unknown.notCertain}</h3>
        <ul>
          {doubts(job).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
      <div>
        <h3>{words.unknown.look}</h3>
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
            {words.unknown.compare}
          </Link>
        </p>
        <p className="dim">{words.unknown.twice}</p>
      </div>
    </div>
  );
}

function certainties(job: JobDetail, agentName: string | null): string[] {
  return [
    ...(job.accepted_at === null ? [] : [words.unknown.taken(agentName, secondsTime(Date.parse(job.accepted_at)))]),
    job.started_at === null ? words.unknown.notSeen : words.unknown.began(secondsTime(Date.parse(job.started_at))),
    ...(job.reason === null ? [] : [happenedWords(job.reason)]),
    words.unknown.neverAgain,
  ];
}

function doubts(job: JobDetail): string[] {
  const lines = [...cautionOf(job.script ?? '').lines];
  return [
    lines.length === 0 ? words.unknown.scriptTook : words.unknown.linesTook(lines[0]!, lines.at(-1)!),
    ...(job.guard === null || job.guard.state === 'disarmed' ? [] : [words.unknown.guardFired]),
    ...(job.undo_unless_reachable_seconds !== null && job.guard === null ? [words.unknown.guardArmed] : []),
  ];
}
