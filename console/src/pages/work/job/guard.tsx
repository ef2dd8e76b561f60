import type { JobDetail } from '../../../../../client/browser.ts';
import { RouterLink } from '../../../parts/router-link.tsx';
import { countdown, secondsTime } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { words } from './words.ts';

interface Props {
  job: JobDetail;
  /** When the job was read, by this browser's clock, milliseconds since 1970: the server tells seconds that are left, not a moment. */
  readAt: number;
}

/** The countdown of an armed undo guard. Nobody has to keep the change by hand: the agent does when it has reached the router anew. */
export function GuardStrip({ job, readAt }: Props) {
  const now = useNow(250);
  const { guard, undo_unless_reachable_seconds: seconds } = job;
  if (guard?.state !== 'armed' || guard.fires_in_s === null || seconds === null) return null;
  const firesAt = readAt + guard.fires_in_s * 1000;
  const left = Math.max(0, firesAt - now);
  return (
    <div className="guard" role="group" aria-label={words.guard.title}>
      <div className="big" role="timer" aria-label={words.guard.left}>
        {countdown(left)}
      </div>
      <div>
        <p className="lamp">
          <WorkLamp work="armed" size={13} />
          <RouterLink id={job.router_id} />
          <span className="dim">{words.guard.undoesAt(secondsTime(firesAt))}</span>
        </p>
        <div className="fuse" aria-hidden="true">
          <i style={{ width: `${Math.min(100, (left / (seconds * 1000)) * 100)}%` }} />
        </div>
        <p className="t2 dim">{words.guard.how}</p>
      </div>
    </div>
  );
}
