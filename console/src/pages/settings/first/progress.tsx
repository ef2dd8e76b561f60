import { Link } from '@tanstack/react-router';
import type { Agent, AgentRouters, EnrolToken } from '../../../../../client/browser.ts';
import { useQuery } from '@tanstack/react-query';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Section } from '../../../parts/section.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { useBrowserNow } from '../../../parts/use-now.ts';
import { REASONS } from './reasons.ts';
import type { Stage } from './reasons.ts';
import { useToken } from './use-token.ts';
import { words } from './words.ts';

/** Silence after this long has a reason, milliseconds. */
const SILENT_AFTER_MS = 90_000;

interface Props {
  /** Of the token that was made on this page; an agent may come with another one (`followed-token.ts`). */
  tokenId: string | undefined;
  madeAt: number | undefined;
}

interface Seen {
  token: EnrolToken | undefined;
  agent: Agent | undefined;
  /** With the identity, once it is known. */
  routers: readonly (AgentRouters['routers'][number] & { identity: string | undefined })[];
  /** Identities of its routers that answer. */
  answering: readonly { id: string; identity: string; since: string | null }[];
}

/** What has happened since the token was made, told by events. */
export function Progress({ tokenId, madeAt }: Props) {
  const seen = useSeen(tokenId);
  const stage = stageOf(seen);
  const now = useBrowserNow(1000);
  const { token, agent, routers, answering } = seen;
  const unreached = routers.filter(({ reachable, reason }) => !reachable && reason !== null);
  return (
    <div>
      <Section title={words.progress.title} small={words.progress.small}>
        <ol className="progress" aria-live="polite">
          <Step title={words.progress.token} at={token?.used_at} isNext={stage === 'token' && tokenId !== undefined} />
          <Step title={words.progress.agent} at={agent?.connected_at} isNext={stage === 'agent'}>
            {agent?.connected === true ? [agent.name, agent.version, agent.address].filter(Boolean).join(', ') : undefined}
          </Step>
          <Step title={words.progress.routers} at={routers.length > 0 ? agent?.connected_at : undefined} isNext={stage === 'routers'}>
            {routers.length > 0 ? routers.map(({ name, identity }) => words.progress.router(name, identity)).join(', ') : undefined}
          </Step>
          <Step title={words.progress.answer} at={answering[0]?.since ?? undefined} isNext={stage === 'answer'}>
            {answering[0] === undefined ? undefined : answering[0].identity}
          </Step>
        </ol>
        {stage === 'done' ? (
          <p className="arrived" role="status">
            <b>{words.progress.answers(answering[0]!.identity)}</b> {words.progress.first}{' '}
            {fill(words.progress.next, {
              page: (
                <Link to="/routers/$routerId" params={{ routerId: answering[0]!.id }} className="hand under">
                  {words.progress.page}
                </Link>
              ),
              run: (
                <AppLink href={`/run?routers=${answering[0]!.id}`} className="hand under">
                  {words.progress.run}
                </AppLink>
              ),
            })}
          </p>
        ) : null}
      </Section>
      {unreached.length === 0 ? null : (
        <Section title={words.unreached.title} small={words.unreached.small}>
          {unreached.map(({ name, reason }) => (
            <p className="line usual" key={name}>
              <b className="id el">{name}</b> <span>{wordOf(reason ?? '')}</span>
            </p>
          ))}
        </Section>
      )}
      {stage !== 'done' && madeAt !== undefined && now - lastNews(madeAt, seen) > SILENT_AFTER_MS ? <Silent stage={stage} /> : null}
    </div>
  );
}

function useSeen(tokenId: string | undefined): Seen {
  const { api, routers } = useFleet();
  useRoutersVersion();
  const token = useToken(tokenId);
  const agentId = token?.agent_id ?? undefined;
  const { data: agent } = useQuery({
    queryKey: ['agents', agentId],
    queryFn: async () => (await api.call('getAgent', { path: { agent_id: agentId! } })).data,
    enabled: agentId !== undefined,
  });
  const { data: reported } = useQuery({
    // Their first word comes with the agent's first look at them, which is no event of a router that does not answer.
    queryKey: ['router', 'of-agent', agentId],
    queryFn: async () => (await api.call('listAgentRouters', { path: { agent_id: agentId! } })).data.routers,
    enabled: agentId !== undefined,
    refetchInterval: 5000,
  });
  const answering = routers
    .values()
    .filter(({ agent_id: id, state }) => id === agentId && state === 'answering')
    .map(({ id, identity, state_since: since }) => ({ id, identity, since }));
  const named = (reported ?? []).map((router) => ({ ...router, identity: routers.get(router.router_id ?? '')?.identity }));
  return { token, agent, routers: named, answering: agentId === undefined ? [] : answering };
}

function stageOf({ token, agent, routers, answering }: Seen): Stage {
  if (answering.length > 0) return 'done';
  if (routers.length > 0) return 'answer';
  if (agent?.connected === true) return 'routers';
  return token?.status === 'used' ? 'agent' : 'token';
}

/** When the last step was taken, milliseconds since 1970. */
function lastNews(madeAt: number, { token, agent }: Seen): number {
  return Math.max(madeAt, Date.parse(token?.used_at ?? '') || 0, Date.parse(agent?.connected_at ?? '') || 0);
}

interface StepProps {
  title: string;
  at: string | null | undefined;
  /** It is what is waited for. */
  isNext: boolean;
  children?: React.ReactNode;
}

function Step({ title, at, isNext, children }: StepProps) {
  const isDone = at !== null && at !== undefined;
  return (
    <li className={isDone || isNext ? '' : 'faint'}>
      <Lamp state={isDone ? 'answering' : 'never_seen'} />
      <span>
        <b>{title}</b>
        {children === undefined ? null : <span className="dim el">{children}</span>}
      </span>
      <span className="dim num">
        {isDone ? <Moment at={at} /> : isNext ? words.progress.waits : <span className="sr">{words.progress.notYet}</span>}
      </span>
    </li>
  );
}

function Silent({ stage }: { stage: Exclude<Stage, 'done'> }) {
  return (
    <Section title={words.silent.title} small={words.silent.small}>
      {REASONS[stage].map(({ name, text }) => (
        <p className="line usual" key={name}>
          <span className="dim">{name}</span> <span>{text}</span>
        </p>
      ))}
    </Section>
  );
}
