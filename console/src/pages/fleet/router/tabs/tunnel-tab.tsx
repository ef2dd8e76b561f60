import { useParams } from '@tanstack/react-router';
import { Reading } from '../../../../parts/reading.tsx';
import { AgentSessions } from '../../agent/agent-sessions.tsx';
import { AgentLink } from '../../agent/agent-link.tsx';
import { useRouter } from '../router-page.tsx';
import { SpanChoice, useSpan } from '../span-choice.tsx';
import { SPANS } from '../../../../data/use-router-story.ts';

/** The line to a router: the sessions of its agent with how each ended, and the round trip and loss of its pings. */
export function TunnelTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const { router } = useRouter(routerId);
  const span = useSpan();
  if (!router) return <Reading />;
  return (
    <>
      <div className="chart-span">
        <SpanChoice />
      </div>
      <AgentLink agentId={router.agent_id} hours={SPANS[span]} />
      <AgentSessions agentId={router.agent_id} hours={SPANS[span]} />
    </>
  );
}
