import type { Overview } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { Sign } from '../../../parts/sign.tsx';
import { lengthOf } from '../../../parts/times.ts';

const MOST = 3;

/** What somebody has open: forwards with their time left, campaigns and jobs that run, faults. */
export function OpenNow({ overview }: { overview: Overview }) {
  const { data: forwards = [] } = useRecord('forwards', 'listTeamForwards', { query: { status: 'open', limit: MOST } });
  const { open_forwards: open, running_campaigns: campaigns, jobs_24h: jobs, open_faults: faults } = overview;
  const lines: readonly [string, number, string][] = [
    ['campaigns running', campaigns, '/campaigns'],
    ['jobs waiting or running', jobs.pending + jobs.running, '/jobs'],
    ['jobs whose end is unknown, 24 h', jobs.unknown, '/jobs?status=unknown'],
    ['faults open', faults.critical + faults.warning + faults.info, '/faults'],
  ];
  const shown = lines.filter(([, count]) => count > 0);
  return (
    <Section title="Open now" small={open === 0 ? undefined : `${open} ${open === 1 ? 'forward' : 'forwards'}`}>
      {forwards.map((forward) => (
        <div className="line open-line" key={forward.id}>
          <Sign kind="forward" />
          <span className="el">
            <AppLink href={`/forwards/${forward.router_id}/${forward.id}`} className="b">
              <RouterName id={forward.router_id} /> {forward.dst_address}:{forward.dst_port}
            </AppLink>
            <br />
            <span className="t2 dim id">for {forward.allow_only_cidr}</span>
          </span>
          <span className="num dim t2">{lengthOf(Date.parse(forward.expires_at) - Date.now())} left</span>
        </div>
      ))}
      {open > forwards.length ? <Count text="more forwards" count={open - forwards.length} href="/forwards" /> : null}
      {shown.map(([text, count, href]) => (
        <Count key={text} text={text} count={count} href={href} />
      ))}
      {open === 0 && shown.length === 0 ? <p className="empty">No forward, job, campaign or fault.</p> : null}
    </Section>
  );
}

function RouterName({ id }: { id: string }) {
  return <span className="id">{useRouterRecord(id)?.identity}</span>;
}

function Count({ text, count, href }: { text: string; count: number; href: string }) {
  return (
    <div className="line figure">
      <AppLink href={href}>{text}</AppLink>
      <b className="num b">{count}</b>
    </div>
  );
}
