import { expect, test } from 'vitest';
import type { Inventory } from '../../protocol/index.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** Which device is which, whatever happens to names, agents and boxes. */
describeEachDatabase('a router', (open) => {
  async function world(): Promise<{
    teamId: string;
    newAgent: (team?: string) => Promise<string>;
    seen: (agentId: string, name: string, hardware: string, identity?: string, team?: string) => Promise<string>;
    named: (routerId: string) => Promise<{ agentId: string; agentEntry: string; identity: string }>;
    otherTeam: () => Promise<string>;
  }> {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const routers = new RoutersService({ storage, clock: new ManualClock(1_000_000), log: silentLog, rules: { offlineAfterMs: 75_000 } });
    return {
      teamId,
      newAgent: (team = teamId) => seedAgent(storage, team),
      otherTeam: async () => (await seedTeam(storage)).teamId,
      seen: async (agentId, name, hardware, identity = 'riga', team = teamId) => {
        const connection = { agentId, teamId: team, epoch: 1, address: '198.51.100.7', reset: false };
        await routers.onReady(connection);
        const facts: Inventory['facts'] = {
          hardware_id: hardware,
          serial_number: hardware,
          software_id: null,
          identity,
          software_version: '7.18.2',
          model: 'RB750Gr3',
          board_name: 'hEX',
          hardware_board: true,
          architecture: 'mmips',
          time_zone: null,
          uptime: '1d',
          uptime_seconds: 86_400,
        };
        return (await routers.onInventory(connection, { type: 'inventory', router: name, facts }))!.id;
      },
      named: async (routerId) => {
        const { agent_id: agentId, agent_router: agentEntry, identity } = await routers.getRouter(teamId, routerId);
        return { agentId, agentEntry, identity };
      },
    };
  }

  test('keeps its id when it is renamed, and when its agent is installed anew', async () => {
    const { newAgent, seen, named } = await world();
    const id = await seen(await newAgent(), 'branch', 'SERIAL1');
    const reinstalled = await newAgent();
    expect(await seen(reinstalled, 'Riga office', 'SERIAL1', 'riga-main')).toBe(id);
    expect(await named(id)).toEqual({ agentId: reinstalled, agentEntry: 'Riga office', identity: 'riga-main' });
  });

  test('that replaces another under its name is a new one; the old one keeps its id for the day on which it is used again', async () => {
    const { newAgent, seen, named } = await world();
    const agent = await newAgent();
    const old = await seen(agent, 'branch', 'SERIAL1');
    const replacement = await seen(agent, 'branch', 'SERIAL2');
    expect(replacement).not.toBe(old);
    expect([await named(old), await named(replacement)]).toMatchObject([{ agentEntry: '' }, { agentEntry: 'branch' }]);
    expect(await seen(agent, 'depot', 'SERIAL1')).toBe(old);
    expect([await named(old), await named(replacement)]).toMatchObject([{ agentEntry: 'depot' }, { agentEntry: 'branch' }]);
  });

  test('of another team is another router, whatever its serial number', async () => {
    const { newAgent, seen, otherTeam } = await world();
    const team = await otherTeam();
    expect(await seen(await newAgent(team), 'branch', 'SERIAL1', 'riga', team)).not.toBe(await seen(await newAgent(), 'branch', 'SERIAL1'));
  });
});
