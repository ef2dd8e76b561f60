import '../router/router.css';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent, AgentRouter } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
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

/** The page looks back so far, hours. */
const HOURS = 24;

/** One agent: its line, its sessions, its routers, and the end of its credential. */
export function AgentPage() {
  const { agentId } = useParams({ from: '/agents/$agentId' });
  const { data: agent, error } = useRecord('agents', 'getAgent', { path: { agent_id: agentId } });
  const [isRevoking, setRevoking] = useState(false);
  const mayRevoke = useMay('admin');
  if (!agent) return error ? <MissingRecord error={error} what="agent" list={{ href: '/agents', name: 'Agents' }} /> : <Reading />;
  return (
    <>
      <PageHead
        crumb={<AppLink href="/agents">Agents</AppLink>}
        title={<span className="id">{agent.name}</span>}
        sentence={<Sentence agent={agent} />}
        actions={
          mayRevoke && agent.revoked_at === null ? (
            <button type="button" className="btn danger" onClick={() => setRevoking(true)}>
              Revoke
            </button>
          ) : undefined
        }
      />
      <AgentLink agentId={agentId} hours={HOURS} />
      <div className="cols agent-cols">
        <AgentSessions agentId={agentId} hours={HOURS} />
        <Routers agentId={agentId} />
      </div>
      {isRevoking ? (
        <Confirm
          title={`Revoke the agent ${agent.name}?`}
          action="Revoke the agent"
          typed={agent.name}
          operation="revokeAgent"
          input={{ path: { agent_id: agentId } }}
          stale={['agents', 'overview', 'router']}
          onClose={() => setRevoking(false)}
        >
          <p>
            Its tunnel closes and its credential is refused from then on. Its {agent.router_count}{' '}
            {agent.router_count === 1 ? 'router' : 'routers'} cannot be reached until another agent reports{' '}
            {agent.router_count === 1 ? 'it' : 'them'}.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function Sentence({ agent }: { agent: Agent }) {
  const { connected, since, address, version, sessions_24h: sessions, last_ended_by: ended, revoked_at: revoked } = agent;
  if (revoked !== null) {
    return (
      <>
        <b>Revoked</b> <Moment at={revoked} />.
      </>
    );
  }
  if (since === null) return <b>It was enrolled and has never connected.</b>;
  const from = address === null ? '' : ` from ${address}`;
  const often = sessions >= FLAPPING ? ` It connected ${sessions} times in 24 hours: its line does not hold.` : '';
  return (
    <>
      <Lamp state={connected ? 'answering' : 'agent_away'} size={15} />{' '}
      <b>
        {connected
          ? `Connected since ${shortTime(since)}${from}.`
          : `Away since ${shortTime(since)}${ended === null ? '' : `: ${wordOf(ended)}`}.`}
      </b>{' '}
      {version === null ? '' : `Version ${version}.`}
      {often}
    </>
  );
}

function Routers({ agentId }: { agentId: string }) {
  const { data, error } = useRecord('agents', 'listAgentRouters', { path: { agent_id: agentId } });
  return (
    <Section title="Routers" small="as its configuration names them">
      {error && !data ? <ReadingFailed error={error} what="The routers of this agent" /> : null}
      {data?.routers.length === 0 ? <p className="empty">Its configuration names none.</p> : null}
      {data?.routers.map((router) => (
        <RouterLine key={router.name} router={router} />
      ))}
    </Section>
  );
}

function RouterLine({ router: { name, host, router_id: id, reachable, reason } }: { router: AgentRouter }) {
  return (
    <div className="line agent-router">
      <Lamp state={reachable ? 'answering' : 'not_answering'} />
      <span className="el">
        {id === null ? (
          <span className="id">{name}</span>
        ) : (
          <AppLink href={`/routers/${id}`} className="id b">
            {name}
          </AppLink>
        )}
        <span className="dim t2 id"> {host}</span>
      </span>
      <span className={reachable ? 'num dim' : 'num c-not'}>{reachable ? 'answers' : wordOf(reason ?? 'not_answering')}</span>
    </div>
  );
}
