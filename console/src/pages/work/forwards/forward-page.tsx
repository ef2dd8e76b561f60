import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Input, TransientForward } from '../../../../../client/browser.ts';
import { withoutGone } from '../../../data/gone.ts';
import { useFleet, useTraffic } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { CopyButton, CopyLine } from '../../../parts/copy.tsx';
import { endpoint } from '../../../parts/endpoint.ts';
import { fill } from '../../../parts/fill.tsx';
import { isLoopback } from '../../../parts/loopback.ts';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { sizeOf } from '../../../parts/sizes.ts';
import { countdown, lengthOf, shortTime } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { useMay } from '../../../session/use-may.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { Connections } from './connections.tsx';
import { ForwardActions } from './forward-actions.tsx';
import { allowLines, readyLines, stateOfForward, wayWords, whyWords, words } from './words.ts';
import type { ForwardState } from './words.ts';
import '../work.css';
import { serverNow } from '../../../data/server-clock.ts';

/** No event tells of clients that were turned away: read this often while the forward is open, milliseconds. */
const READ_MS = 30_000;

/** One forward: how to use it, who uses it, and how long it stays. */
export function ForwardPage() {
  const { routerId, forwardId } = useParams({ from: '/forwards/$routerId/$forwardId' });
  const { api } = useFleet();
  const { data, error } = withoutGone(
    useQuery({
      queryKey: ['forwards', 'getForward', forwardId],
      queryFn: ({ signal }) => api.call('getForward', { path: { router_id: routerId, id: forwardId } }, { signal }),
      refetchInterval: ({ state }) => (state.data && stateOfForward(state.data, serverNow()).isOpen ? READ_MS : false),
    }),
  );
  if (error && !data) return <MissingRecord error={error} what={words.forward} list={{ href: '/forwards', name: words.forwards }} />;
  if (!data) return <Reading />;
  return <Found forward={data} />;
}

function Found({ forward }: { forward: TransientForward }) {
  const { routers } = useFleet();
  const now = useNow(1000);
  const state = stateOfForward(forward, now);
  useTraffic(forward.id, state.isOpen);
  const canBeUsed = state.isOpen && !forward.refused;
  const name = routers.get(forward.router_id)?.identity ?? forward.router_id;
  return (
    <>
      <PageHead
        crumb={
          <>
            <Link to="/forwards" search={{}} className="hand" activeOptions={{ exact: true }}>
              {words.forwards}
            </Link>{' '}
            /{' '}
            {fill(words.page.crumb, {
              router: <RouterLink id={forward.router_id} className="hand id" />,
              time: shortTime(forward.created_at),
            })}
          </>
        }
        title={
          <span className="named">
            <WorkLamp work={state.work} size={15} />
            <b className="id">{endpoint(forward.dst_address, forward.dst_port)}.</b> <span>{sentenceCase(state.word)}</span>
            {state.why === '' ? '' : `: ${state.why}`}. {canBeUsed ? words.page.admits(forward.allow_only_cidr) : ''}
          </span>
        }
        actions={<ForwardActions forward={forward} isOpen={state.isOpen} />}
      />
      {canBeUsed ? <Left forward={forward} now={now} /> : null}
      <div className="cols work-cols">
        <div>
          {canBeUsed ? <Lines forward={forward} name={name} /> : null}
          {state.isOpen && forward.refused ? <HowToAllow address={forward.dst_address} /> : null}
          <Connections forward={forward} />
        </div>
        <Facts forward={forward} state={state} />
      </div>
    </>
  );
}

function Left({ forward, now }: { forward: TransientForward; now: number }) {
  const left = Date.parse(forward.expires_at) - now;
  const all = Date.parse(forward.expires_at) - Date.parse(forward.created_at);
  return (
    <div className="guard" role="group" aria-label={words.page.left}>
      <div className="big" role="timer">
        {countdown(left)}
      </div>
      <div>
        <p>
          <b>{words.page.openNow(forward.open_connections)}</b>
          <span className="dim">, {words.page.soFar(forward.connection_count, sizeOf(forward.bytes_in), sizeOf(forward.bytes_out))}</span>
        </p>
        <div className="fuse" aria-hidden="true">
          <i style={{ width: `${Math.min(100, Math.max(0, (left / all) * 100))}%` }} />
        </div>
        <p className="t2 dim">{words.page.endsAt(shortTime(forward.expires_at))}</p>
      </div>
    </div>
  );
}

function Lines({ forward, name }: { forward: TransientForward; name: string }) {
  return (
    <Section
      title={words.connect.title}
      small={forward.authorized_at === null ? words.connect.whenOpen : words.connect.from(forward.allow_only_cidr)}
    >
      <div className="ready">
        {readyLines(forward, name).map((line) => (
          <div key={line.name}>
            <p className="t2 dim">{line.name}</p>
            <CopyLine text={line.line} label={line.name} />
          </div>
        ))}
      </div>
      {isLoopback(forward.entry_point) ? <p className="hint c-away">{words.connect.loopback(forward.entry_point)}</p> : null}
    </Section>
  );
}

function HowToAllow({ address }: { address: string }) {
  const text = allowLines(address);
  return (
    <Section title={words.refused.title} small={words.refused.small}>
      <p className="hint how">{words.refused.how}</p>
      <div className="copied-lines">
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- long lines scroll, also by keyboard */}
        <pre tabIndex={0}>{text}</pre>
        <CopyButton text={text} label={words.refused.label} />
      </div>
    </Section>
  );
}

/** Who opened it. The record does not say; the history tells those who may read the audit log. */
function useOpenedBy({ id, router_id: routerId, created_at: at }: TransientForward): string | undefined {
  // Those that were made in the same millisecond, and no others: `to` is the first moment that is left out.
  const query = {
    kind: ['forward'],
    from: at,
    to: new Date(Date.parse(at) + 1).toISOString(),
  } satisfies Input<'listRouterHistory'>['query'];
  const { data } = useRecord('history', 'listRouterHistory', { path: { router_id: routerId }, query });
  return data?.find((item) => item.id === id)?.by ?? undefined;
}

/** What was done is in the audit log once it has been answered, milliseconds after the forward has closed. */
const ANSWERED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 1000;

/** Who closed it before its end. Only administrators may read what people did. */
function ClosedBy({ forward: { id, router_id: routerId, closed_at: at } }: { forward: TransientForward }) {
  const { api } = useFleet();
  const closedAt = Date.parse(at ?? '');
  const { data: by } = useQuery({
    queryKey: ['history', 'closed-by', id, at],
    queryFn: async ({ signal }) => {
      const query = {
        kind: ['action'],
        from: new Date(closedAt - ANSWERED_WITHIN_MS).toISOString(),
        to: new Date(closedAt + ANSWERED_WITHIN_MS).toISOString(),
      } satisfies Input<'listRouterHistory'>['query'];
      const { data } = await api.call('listRouterHistory', { path: { router_id: routerId }, query }, { signal });
      // The oldest: whoever closed it again closed nothing.
      return data.findLast(({ title }) => title.startsWith('DELETE ') && title.includes(id))?.by ?? null;
    },
    refetchInterval: ({ state }) => (state.data === null && serverNow() - closedAt < ANSWERED_WITHIN_MS ? LOOK_AGAIN_MS : false),
  });
  return by === null || by === undefined ? null : <Fact name={words.facts.closedBy} value={by} />;
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="line fact">
      <dt className="faint">{name}</dt>
      <dd className="id">{value}</dd>
    </div>
  );
}

function Facts({ forward, state }: { forward: TransientForward; state: ForwardState }) {
  const said = words.facts;
  const openedBy = useOpenedBy(forward);
  const isAdmin = useMay('admin');
  const facts: readonly [string, string][] = [
    ...(openedBy === undefined ? [] : [[said.openedBy, openedBy] as [string, string]]),
    [said.way, wayWords(forward.way)],
    [said.whyThisWay, forward.way_reason === null ? said.notTold : whyWords(forward.way_reason)],
    [said.target, reachableWords(forward)],
    [said.admits, forward.allow_only_cidr],
    [said.turnedAway, forward.refused_attempts === 0 ? said.nobody : said.attempts(forward.refused_attempts)],
    [said.most, said.atOnce(forward.max_connections)],
    [said.idle, forward.idle_seconds === null ? said.neverCut : said.cutAfter(lengthOf(forward.idle_seconds * 1000))],
    [said.openSince, forward.authorized_at === null ? said.notOpen : shortTime(forward.authorized_at)],
    [state.isOpen ? said.ends : said.ended, shortTime(forward.closed_at ?? forward.expires_at)],
  ];
  return (
    <div>
      <Section title={said.title}>
        <dl className="forward-facts">
          {facts.map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
          {isAdmin && forward.revoked_early && forward.closed_at !== null ? <ClosedBy forward={forward} /> : null}
        </dl>
      </Section>
    </div>
  );
}

function reachableWords({ target_reachable: isReachable }: TransientForward): string {
  if (isReachable === null) return words.facts.notTried;
  return isReachable ? words.facts.answers : words.facts.noAnswer;
}
