import '../router/router.css';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent, AgentRouter } from '../../../../../client/browser.ts';
import { useRouterRecord } from '../../../data/use-fleet.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Lamp, colourOf } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { wordOf } from '../../../parts/state-words.ts';
import { shortTime } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';
import { AgentLink } from './agent-link.tsx';
import { AgentSessions } from './agent-sessions.tsx';
import { FLAPPING } from '../agents/agents.ts';
import { words } from './words.ts';

/** The page looks back so far, hours. */
const HOURS = 24;

/** One agent: its line, its sessions, its routers, and the end of its credential. */
export function AgentPage() {
  const { agentId } = useParams({ from: '/agents/$agentId' });
  const { data: agent, error } = useRecord('agents', 'getAgent', { path: { agent_id: agentId } });
  const [isRevoking, setRevoking] = useState(false);
  const mayRevoke = useMay('admin');
  if (!agent) return error ? <MissingRecord error={error} what={words.what} list={{ href: '/agents', name: words.agents }} /> : <Reading />;
  return (
    <>
      <PageHead
        crumb={<AppLink href="/agents">{words.agents}</AppLink>}
        title={<span className="id">{agent.name}</span>}
        sentence={<Sentence agent={agent} />}
        actions={
          mayRevoke && agent.revoked_at === null ? (
            <button type="button" className="btn danger" onClick={() => setRevoking(true)}>
              {words.revoke}
            </button>
          ) : undefined
        }
      />
      {agent.connected || agent.revoked_at !== null ? null : (
        <p className="hint">{fill(words.start, { service: <code>{words.startService}</code>, log: <code>{words.readLog}</code> })}</p>
      )}
      <AgentLink agentId={agentId} hours={HOURS} />
      <div className="cols agent-cols">
        <AgentSessions agentId={agentId} hours={HOURS} />
        <Routers agentId={agentId} />
      </div>
      {isRevoking ? (
        <Confirm
          title={words.revoking.title(agent.name)}
          action={words.revoking.revoke}
          typed={agent.name}
          operation="revokeAgent"
          input={{ path: { agent_id: agentId } }}
          stale={['agents', 'overview', 'router']}
          onClose={() => setRevoking(false)}
        >
          <p>{words.revoking.what(agent.router_count)}</p>
        </Confirm>
      ) : null}
    </>
  );
}

function Sentence({ agent }: { agent: Agent }) {
  const { connected, since, address, version, sessions_24h: sessions, last_ended_by: ended, revoked_at: revoked } = agent;
  if (revoked !== null) {
    return fill(words.sentence.revokedAt, { revoked: <b>{words.sentence.revoked}</b>, time: <Moment at={revoked} /> });
  }
  if (since === null) return <b>{words.sentence.unseen}</b>;
  const time = shortTime(since);
  return (
    <>
      <Lamp state={connected ? 'answering' : 'agent_away'} size={15} />{' '}
      <b>
        {connected
          ? address === null
            ? words.sentence.connected(time)
            : words.sentence.connectedFrom(time, address)
          : ended === null
            ? words.sentence.away(time)
            : words.sentence.awayWhy(time, wordOf(ended))}
      </b>{' '}
      {version === null ? '' : words.sentence.version(version)}
      {sessions >= FLAPPING ? ` ${words.sentence.flapping(sessions)}` : ''}
    </>
  );
}

function Routers({ agentId }: { agentId: string }) {
  const { data, error } = useRecord('router', 'listAgentRouters', { path: { agent_id: agentId } });
  return (
    <Section title={words.routers.title} small={words.routers.small}>
      {error && !data ? <ReadingFailed error={error} what={words.routers.what} /> : null}
      {data?.routers.length === 0 ? <p className="empty">{words.routers.none}</p> : null}
      {data?.routers.map((router) => (
        <RouterLine key={router.name} router={router} />
      ))}
    </Section>
  );
}

/** By its identity, as everywhere else; the name in `agent.yaml` stands beside it. */
function RouterLine({ router: { name, host, router_id: id, reachable, reason } }: { router: AgentRouter }) {
  const record = useRouterRecord(id ?? '');
  const identity = id === null ? undefined : (record?.identity ?? name);
  // Of an agent that is away, no router is known to be silent.
  const state = reachable ? 'answering' : record?.state === 'agent_away' ? 'agent_away' : 'not_answering';
  return (
    <div className="line agent-router">
      <Lamp state={state} />
      <span className="el">
        {identity === undefined ? (
          <span className="id">{name}</span>
        ) : (
          <AppLink href={`/routers/${id}`} className="id b">
            {identity}
          </AppLink>
        )}
        <span className="dim t2 id"> {[...(identity === undefined || identity === name ? [] : [name]), host].join(' ')}</span>
      </span>
      <span className={reachable ? 'num dim' : `why t2 ${colourOf(state)}`}>
        {reachable ? words.routers.answers : wordOf(reason ?? 'not_answering')}
      </span>
    </div>
  );
}
