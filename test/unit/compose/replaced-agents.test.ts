import { expect, test } from 'vitest';
import { replacedAgents } from '../../../server/compose/wires/replaced-agents.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { waitUntil } from '../../harness/wait-until.ts';

type Needs = Parameters<typeof replacedAgents.create>[0];

test('forwards of a replaced agent are closed while the ends of its terminals are still being stored', async () => {
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  const dropped: string[] = [];
  const { endReplacedAgent } = replacedAgents.create({
    gateway: { disconnect: () => undefined },
    terminals: { dropAgent: () => stored },
    forwards: { dropAgent: async (_teamId: string, agentId: string) => void dropped.push(agentId) },
    log: silentLog,
  } as unknown as Needs);
  const ended = endReplacedAgent('team', 'agent');
  await waitUntil('the forwards are closed', () => dropped.includes('agent'));
  store();
  await expect(ended).resolves.toBeUndefined();
});
