import { useOpeners } from '../../../data/use-names.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { endpoint } from '../../../parts/endpoint.ts';
import { Section } from '../../../parts/section.tsx';
import { dueTime, lengthOf, shortTime } from '../../../parts/times.ts';
import { Sign } from '../../../parts/sign.tsx';
import { useMay } from '../../../session/use-may.ts';
import { Silenced } from './silenced.tsx';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

/** Of each kind, so many are shown; the tabs have all. */
const MOST = 5;

/** What is open at this router now: faults, forwards, terminals, jobs that have not ended. */
export function OpenHere({ routerId, siteId }: { routerId: string; siteId: string | null }) {
  const { data: faults } = useRecord('faults', 'listTeamFaults', { query: { router_id: routerId, status: 'open', limit: MOST } });
  const { data: forwards } = useRecord('forwards', 'listTeamForwards', { query: { router_id: routerId, status: 'open', limit: MOST } });
  const { data: jobs } = useRecord('jobs', 'listTeamJobs', { query: { router_id: routerId, status: ['pending', 'running'], limit: MOST } });
  const { data: terminals } = useRecord('terminals', 'listTerminals', { query: { router_id: routerId, status: 'open', limit: MOST } });
  const openerOf = useOpeners();
  const maySilence = useMay('operator');
  if (!faults || !forwards || !jobs || !terminals) return null;
  const count = faults.length + forwards.length + jobs.length + terminals.length;
  return (
    <Section
      title={words.open.title}
      small={count === 0 ? undefined : count}
      aside={
        maySilence ? (
          <AppLink href={`/notifications/silences?router=${routerId}`} className="hand">
            {words.open.silence}
          </AppLink>
        ) : undefined
      }
    >
      <Silenced routerId={routerId} siteId={siteId} />
      {count === 0 ? <p className="empty">{words.open.none}</p> : null}
      {faults.map(({ id, message, created_at: at }) => (
        <Open key={id} kind="fault" href={`/routers/${routerId}/faults`} name={message} more={words.open.since(shortTime(at))} />
      ))}
      {forwards.map((forward) => (
        <Open
          key={forward.id}
          kind="forward"
          href={`/forwards/${routerId}/${forward.id}`}
          name={endpoint(forward.dst_address, forward.dst_port)}
          more={words.open.forward(forward.allow_only_cidr, forward.open_connections)}
          aside={words.open.left(lengthOf(Date.parse(forward.expires_at) - serverNow()))}
        />
      ))}
      {terminals.map((terminal) => (
        <Open
          key={terminal.id}
          kind="terminal"
          href={`/terminals/${terminal.id}`}
          name={terminal.reason}
          more={words.open.terminal(terminal.level, openerOf(terminal))}
          aside={words.open.openFor(lengthOf(serverNow() - Date.parse(terminal.created_at)))}
        />
      ))}
      {jobs.map(({ id, description, status, expires_at: until }) => (
        <Open
          key={id}
          kind="job"
          href={`/jobs/${routerId}/${id}`}
          name={description === '' ? words.open.job : description}
          more={status === 'running' ? words.open.running : words.open.waits(dueTime(until))}
        />
      ))}
    </Section>
  );
}

interface OpenProps {
  kind: 'fault' | 'forward' | 'terminal' | 'job';
  href: string;
  name: string;
  more: string;
  aside?: string;
}

function Open({ kind, href, name, more, aside }: OpenProps) {
  return (
    <div className="line open-here">
      <Sign kind={kind} />
      <span className="el">
        <AppLink href={href} className="b">
          {name}
        </AppLink>
        <br />
        <span className="t2 dim">{more}</span>
      </span>
      <span className="num dim t2">{aside}</span>
    </div>
  );
}
