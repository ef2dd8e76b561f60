import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import { eventually } from '../harness/wait-until.ts';

/** The agent's view of a router over the API, against whole simulated ones. */

const SOON = { timeoutMs: 10_000 };
let routers: AgentRouters;

beforeEach(() => {
  routers = new AgentRouters();
});

afterEach(() => routers.close());

describe.each([
  { name: 'v6', version: '6.49.10', splitEveryByte: false },
  { name: 'v6, every byte on its own', version: '6.49.10', splitEveryByte: true },
  { name: 'v6.42, challenge login', version: '6.42.12', splitEveryByte: true },
  { name: 'v7', version: '7.18.2', splitEveryByte: false },
  { name: 'v7, every byte on its own', version: '7.18.2', splitEveryByte: true },
])('$name', ({ version, splitEveryByte }) => {
  it('a router is found and identified', async () => {
    const simulator = await routers.simulate({ version, splitEveryByte, identity: 'Zürich-Łódź 日本', timeZone: 'Europe/Zurich' });
    const adapter = await routers.adapter(routers.config(simulator));
    await reachable(adapter);
    expect(adapter.state().facts).toMatchObject({
      hardwareId: simulator.router.serialNumber,
      serialNumber: simulator.router.serialNumber,
      softwareId: simulator.router.softwareId,
      identity: 'Zürich-Łódź 日本',
      softwareVersion: version,
      boardName: 'hAP ac^2',
      model: 'RBD52G-5HacD2HnD',
      hardwareBoard: true,
      architecture: 'arm',
      timeZone: 'Europe/Zurich',
    });
    expect(adapter.state().facts?.uptimeSeconds).toBeGreaterThanOrEqual(4000);
  });

  it('commands print, add, change and remove', async () => {
    const adapter = await routers.adapter(routers.config(await routers.simulate({ version, splitEveryByte })));
    const command = (path: string, ...words: string[]) => adapter.command({ path, words }, SOON);
    await adapter.refresh(SOON);
    const { ret } = await command('/ip/address/add', '=address=10.9.8.1/24', '=interface=ether2', '=comment=Büro');
    expect(ret).toMatch(/^\*[0-9A-F]+$/);
    const find = async () => (await command('/ip/address/print', '?comment=Büro', '.proplist=.id,address,comment')).rows;
    expect(await find()).toEqual([{ '.id': ret, address: '10.9.8.1/24', comment: 'Büro' }]);
    expect(await command('/ip/address/set', `=.id=${ret}`, '=address=10.9.8.2/24')).toEqual({ rows: [] });
    expect((await find())[0]?.['address']).toBe('10.9.8.2/24');
    expect(await command('/ip/address/remove', `=.id=${ret}`)).toEqual({ rows: [] });
    // Nothing to show: `!empty` from 7.18 on.
    expect(await find()).toEqual([]);
  });

  it('a wrong command is refused with the router’s own message', async () => {
    const adapter = await routers.adapter(routers.config(await routers.simulate({ version, splitEveryByte })));
    await adapter.refresh(SOON);
    await expect(adapter.command({ path: '/ip/nonsense/print', words: [] }, SOON)).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('no such command'),
    });
  });
});

describe.each([
  ['CHR', '7.18.2'],
  ['CHR', '6.49.10'],
  ['x86', '6.49.10'],
])('%s %s', (model, version) => {
  it('is not a board and is identified by its software or system id', async () => {
    const simulator = await routers.simulate({ model, version });
    const facts = await (await routers.adapter(routers.config(simulator))).refresh(SOON);
    expect(facts).toMatchObject({ hardwareId: simulator.router.softwareId, serialNumber: null, hardwareBoard: false, model: null });
  });
});

describe('a router that', () => {
  it('drops its sessions is reconnected, and listeners are notified', async () => {
    const simulator = await routers.simulate({});
    const adapter = await routers.adapter(routers.config(simulator));
    const seen: boolean[] = [];
    adapter.onState((state) => seen.push(state.reachable));
    await reachable(adapter);
    simulator.faults.resetConnections();
    await eventually(() => expect(seen).toEqual([true, false]));
    routers.clock.advance(1);
    await eventually(() => expect(seen).toEqual([true, false, true]));
  });

  it('is absent is reported at once with the reason and keeps its known facts', async () => {
    const simulator = await routers.simulate({});
    const adapter = await routers.adapter(routers.config(simulator));
    await reachable(adapter);
    await simulator.close();
    await eventually(() => expect(adapter.state().reachable).toBe(false));
    expect(adapter.state().facts?.identity).toBe('MikroTik');
    await expect(adapter.command({ path: '/system/identity/print', words: [] }, SOON)).rejects.toMatchObject({
      code: 'router_unreachable',
    });
  });

  it('refuses the login reports the reason', async () => {
    const simulator = await routers.simulate({});
    const config = routers.config(simulator);
    const adapter = await routers.adapter({ ...config, api: { ...config.api!, password: 'wrong' } });
    await eventually(() => expect(adapter.state().reason).toMatch(/^login refused: /));
    await expect(adapter.testLogin(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
  });

  it('accepts a command and never answers leaves the outcome unknown', async () => {
    const simulator = await routers.simulate({});
    const adapter = await routers.adapter(routers.config(simulator));
    await reachable(adapter);
    simulator.faults.silent = true;
    const words = ['=address=10.9.8.1/24', '=interface=ether2'];
    await expect(adapter.command({ path: '/ip/address/add', words }, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    expect(simulator.items('/ip/address')).toContainEqual(expect.objectContaining({ address: '10.9.8.1/24' }));
  });

  it('is renamed has its new name after the next ping', async () => {
    const simulator = await routers.simulate({});
    const adapter = await routers.adapter(routers.config(simulator));
    await reachable(adapter);
    const changed = new Promise<string | undefined>((resolve) => {
      adapter.onState(({ facts }) => resolve(facts?.identity));
    });
    await adapter.command({ path: '/system/identity/set', words: ['=name=lift-north'] }, SOON);
    routers.clock.advance(20_000);
    expect(await changed).toBe('lift-north');
  });

  it('can be reached again passes the probe', async () => {
    const simulator = await routers.simulate({});
    const adapter = await routers.adapter(routers.config(simulator));
    await reachable(adapter);
    await adapter.testLogin(SOON);
    simulator.faults.refuseConnections = true;
    await expect(adapter.testLogin(SOON)).rejects.toMatchObject({ code: 'router_unreachable' });
    expect(adapter.state().reachable).toBe(true);
  });
});
