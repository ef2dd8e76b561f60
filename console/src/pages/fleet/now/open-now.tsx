import type { Overview, TransientForward } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useOpeners } from '../../../data/use-names.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { endpoint } from '../../../parts/endpoint.ts';
import { Section } from '../../../parts/section.tsx';
import { Sign } from '../../../parts/sign.tsx';
import { lengthOf } from '../../../parts/times.ts';
import { words } from './words.ts';
import { serverNow } from '../../../data/server-clock.ts';

const MOST = 3;

/** What somebody has open: forwards with their time left, campaigns and jobs that run, faults. */
export function OpenNow({ overview }: { overview: Overview }) {
  const { data: forwards = [] } = useRecord('forwards', 'listTeamForwards', { query: { status: 'open', limit: MOST } });
  const { open_forwards: open, open_terminals: shells, running_campaigns: campaigns, jobs_24h: jobs, open_faults: faults } = overview;
  const lines: readonly [string, number, string][] = [
    [words.open.campaigns, campaigns, '/campaigns'],
    [words.open.jobs, jobs.pending + jobs.running, '/jobs?q=status:pending+status:running'],
    [words.open.unknownJobs, jobs.unknown, '/jobs?q=status:unknown'],
    [words.open.faults, faults.critical + faults.warning + faults.info, '/faults'],
  ];
  const shown = lines.filter(([, count]) => count > 0);
  return (
    <Section title={words.open.title} small={said(open, shells)}>
      {forwards.map((forward) => (
        <div className="line open-line" key={forward.id}>
          <Sign kind="forward" />
          <span className="el">
            <AppLink href={`/forwards/${forward.router_id}/${forward.id}`} className="b open-to">
              <To forward={forward} />
            </AppLink>
            <span className="t2 dim id">{words.open.client(forward.allow_only_cidr)}</span>
          </span>
          <span className="num dim t2">{words.open.left(lengthOf(Date.parse(forward.expires_at) - serverNow()))}</span>
        </div>
      ))}
      {open > forwards.length ? <Count text={words.open.moreForwards} count={open - forwards.length} href="/forwards" /> : null}
      {shells > 0 ? <OpenTerminals count={shells} /> : null}
      {shown.map(([text, count, href]) => (
        <Count key={text} text={text} count={count} href={href} />
      ))}
      {open + shells === 0 && shown.length === 0 ? <p className="empty">{words.open.none}</p> : null}
    </Section>
  );
}

/** Where room is short, the host is cut: the port says what the forward is for. */
function To({ forward: { router_id: id, dst_address: host, dst_port: port } }: { forward: TransientForward }) {
  const to = endpoint(host, port);
  const colon = to.lastIndexOf(':');
  return (
    <>
      <span className="el">
        <RouterName id={id} /> {to.slice(0, colon)}
      </span>
      <span>{to.slice(colon)}</span>
    </>
  );
}

function said(forwards: number, terminals: number): string | undefined {
  const part = (count: number, say: (count: number) => string): string[] => (count === 0 ? [] : [say(count)]);
  const parts = [...part(forwards, words.open.forwards), ...part(terminals, words.open.terminals)];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** Who has a shell on a router now. */
function OpenTerminals({ count }: { count: number }) {
  const { data: terminals = [] } = useRecord('terminals', 'listTerminals', { query: { status: 'open', limit: MOST } });
  const openerOf = useOpeners();
  return (
    <>
      {terminals.map((terminal) => (
        <div className="line open-line" key={terminal.id}>
          <Sign kind="terminal" />
          <span className="el">
            <AppLink href={`/terminals/${terminal.id}`} className="b">
              <RouterName id={terminal.router_id} /> {terminal.reason}
            </AppLink>
            <br />
            <span className="t2 dim">
              {terminal.level}, {openerOf(terminal)}
            </span>
          </span>
          <span className="num dim t2">{lengthOf(serverNow() - Date.parse(terminal.created_at))}</span>
        </div>
      ))}
      {count > terminals.length ? (
        <Count text={words.open.moreTerminals} count={count - terminals.length} href="/terminals?q=status:open" />
      ) : null}
    </>
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
