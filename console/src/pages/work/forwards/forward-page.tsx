import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { TransientForward } from '../../../../../client/browser.ts';
import { withoutGone } from '../../../data/gone.ts';
import { useFleet, useTraffic } from '../../../data/use-fleet.ts';
import { CopyLine } from '../../../parts/copy.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { Section } from '../../../parts/section.tsx';
import { sizeOf } from '../../../parts/sizes.ts';
import { countdown, lengthOf, shortTime } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { Connections } from './connections.tsx';
import { ForwardActions } from './forward-actions.tsx';
import { endpoint, readyLines, stateOfForward, wayWords } from './words.ts';
import type { ForwardState } from './words.ts';
import '../work.css';

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
      refetchInterval: ({ state }) => (state.data && stateOfForward(state.data, Date.now()).isOpen ? READ_MS : false),
    }),
  );
  if (error && !data) return <MissingRecord error={error} what="forward" list={{ href: '/forwards', name: 'Forwards' }} />;
  if (!data) return <Reading />;
  return <Found forward={data} />;
}

function Found({ forward }: { forward: TransientForward }) {
  const { routers } = useFleet();
  const now = useNow(1000);
  const state = stateOfForward(forward, now);
  useTraffic(forward.id, state.isOpen);
  const name = routers.get(forward.router_id)?.identity ?? forward.router_id;
  return (
    <>
      <PageHead
        crumb={
          <>
            <Link to="/forwards" search={{}} className="hand" activeOptions={{ exact: true }}>
              Forwards
            </Link>{' '}
            / behind <RouterLink id={forward.router_id} className="hand id" />, made {shortTime(forward.created_at)}
          </>
        }
        title={
          <span className="named">
            <WorkLamp work={state.work} size={15} />
            <b className="id">{endpoint(forward.dst_address, forward.dst_port)}.</b> <span>{sentenceCase(state.word)}</span>
            {state.why === '' ? '' : `: ${state.why}`}. {state.isOpen ? `It admits ${forward.allow_only_cidr}.` : ''}
          </span>
        }
        actions={<ForwardActions forward={forward} isOpen={state.isOpen} />}
      />
      {state.isOpen ? <Left forward={forward} now={now} /> : null}
      <div className="cols work-cols">
        <div>
          {state.isOpen ? <Lines forward={forward} name={name} /> : null}
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
    <div className="guard" role="group" aria-label="Time left">
      <div className="big" role="timer">
        {countdown(left)}
      </div>
      <div>
        <p>
          <b>{forward.open_connections} open now</b>
          <span className="dim">
            , {forward.connection_count} so far, {sizeOf(forward.bytes_in)} to the target, {sizeOf(forward.bytes_out)} back
          </span>
        </p>
        <div className="fuse" aria-hidden="true">
          <i style={{ width: `${Math.min(100, Math.max(0, (left / all) * 100))}%` }} />
        </div>
        <p className="t2 dim">It ends by itself at {shortTime(forward.expires_at)}; open connections are cut at that moment.</p>
      </div>
    </div>
  );
}

function Lines({ forward, name }: { forward: TransientForward; name: string }) {
  return (
    <Section title="Connect" small={forward.authorized_at === null ? 'when it is open' : `from ${forward.allow_only_cidr}`}>
      <div className="ready">
        {readyLines(forward, name).map((line) => (
          <div key={line.name}>
            <p className="t2 dim">{line.name}</p>
            <CopyLine text={line.line} label={line.name} />
          </div>
        ))}
      </div>
    </Section>
  );
}

function Facts({ forward, state }: { forward: TransientForward; state: ForwardState }) {
  const facts: readonly [string, string][] = [
    ['Way', wayWords(forward.way)],
    ['Why this way', forward.way_reason ?? 'not told'],
    ['Target', reachableWords(forward)],
    ['Admits', forward.allow_only_cidr],
    ['Turned away', forward.refused_attempts === 0 ? 'nobody' : `${forward.refused_attempts} attempts`],
    ['At most', `${forward.max_connections} at the same time`],
    ['Idle', forward.idle_seconds === null ? 'never cut' : `cut after ${lengthOf(forward.idle_seconds * 1000)}`],
    ['Open since', forward.authorized_at === null ? 'not open yet' : shortTime(forward.authorized_at)],
    [state.isOpen ? 'Ends' : 'Ended', shortTime(forward.closed_at ?? forward.expires_at)],
  ];
  return (
    <div>
      <Section title="Facts">
        <dl className="forward-facts">
          {facts.map(([name, value]) => (
            <div className="line fact" key={name}>
              <dt className="faint">{name}</dt>
              <dd className="id">{value}</dd>
            </div>
          ))}
        </dl>
      </Section>
    </div>
  );
}

function reachableWords({ target_reachable: isReachable }: TransientForward): string {
  if (isReachable === null) return 'not tried yet';
  return isReachable ? 'answers' : 'does not answer';
}
