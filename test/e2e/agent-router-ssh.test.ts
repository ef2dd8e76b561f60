import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentRouters, reachable } from '../harness/agent-router.ts';
import { eventually } from '../harness/wait-until.ts';

/** What needs SSH, or does without it, on simulated routers. */

const SOON = { timeoutMs: 10_000 };
const TEXT = { ...SOON, maxBytes: 100_000 };
let routers: AgentRouters;
let servers: Server[];

beforeEach(() => {
  routers = new AgentRouters();
  servers = [];
});

afterEach(async () => {
  await routers.close();
  for (const server of servers) server.close();
});

async function echoServer(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe.each([
  ['v6', '6.49.10'],
  ['v7', '7.18.2'],
])('%s', (_name, version) => {
  it('with SSH alone: the facts from the console equal those from the API', async () => {
    const simulator = await routers.simulate({ version, identity: 'lift north', timeZone: 'Europe/Zurich' });
    const overSsh = await (await routers.adapter(routers.config(simulator, { ssh: true }))).refresh(SOON);
    const overApi = await (await routers.adapter(routers.config(simulator, { api: true }))).refresh(SOON);
    const { uptime: _ssh, uptimeSeconds: _sshSeconds, ...ssh } = overSsh;
    const { uptime: _api, uptimeSeconds: _apiSeconds, ...api } = overApi;
    expect(ssh).toEqual(api);
    expect(Math.abs(overSsh.uptimeSeconds! - overApi.uptimeSeconds!)).toBeLessThan(60);
  });

  it('with SSH alone: reads a CHR without a routerboard menu', async () => {
    const simulator = await routers.simulate({ version, model: 'CHR' });
    const facts = await (await routers.adapter(routers.config(simulator, { ssh: true }))).refresh(SOON);
    expect(facts).toMatchObject({ hardwareId: simulator.router.softwareId, hardwareBoard: false });
  });

  it('a console returns the output of a script and its errors', async () => {
    const adapter = await routers.adapter(routers.config(await routers.simulate({ version }), { api: true, ssh: true }));
    await reachable(adapter);
    expect(await adapter.console(':put "one"; :put "two"', TEXT)).toEqual({ text: 'one\ntwo\n', truncated: false });
    expect((await adapter.console('/ip address add nonsense=1', TEXT)).text).toMatch(
      /^(bad parameter|expected end of command|syntax error)/,
    );
    expect(await adapter.console(':put "0123456789"', { ...SOON, maxBytes: 4 })).toEqual({ text: '0123', truncated: true });
  });

  it('a file is read from the router', async () => {
    const simulator = await routers.simulate({ version });
    const adapter = await routers.adapter(routers.config(simulator, { api: true, ssh: true }));
    await reachable(adapter);
    await adapter.command({ path: '/system/backup/save', words: ['=name=flash/before', '=dont-encrypt=yes'] }, SOON);
    const backup = await eventually(() => adapter.readFile('flash/before.backup', { ...SOON, maxBytes: 10_000_000 }));
    expect(backup.length).toBeGreaterThan(0);
    await expect(adapter.readFile('flash/nothing.backup', TEXT)).rejects.toMatchObject({ code: 'rejected' });
    await expect(adapter.readFile('flash/before.backup', { ...SOON, maxBytes: 1 })).rejects.toMatchObject({ code: 'not_allowed' });
  });

  it('a connection through the router needs SSH forwarding, and the error says so', async () => {
    const simulator = await routers.simulate({ version });
    const adapter = await routers.adapter(routers.config(simulator, { api: true, ssh: true }));
    await reachable(adapter);
    const target = { host: '127.0.0.1', port: await echoServer() };
    await expect(adapter.openTcp(target, SOON)).rejects.toMatchObject({ code: 'not_allowed' });
    await adapter.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=local'] }, SOON);
    const stream = await eventually(() => adapter.openTcp(target, SOON));
    const sent = randomBytes(1_000_000);
    stream.end(sent);
    expect(Buffer.concat((await stream.toArray()) as Buffer[]).equals(sent)).toBe(true);
    const [closed] = servers.splice(0);
    closed?.close();
    await once(closed!, 'close');
    await expect(adapter.openTcp(target, SOON)).rejects.toMatchObject({ code: 'rejected' });
  });
});

describe('a console', () => {
  it('needs no SSH from 7.8 on, and is unavailable without it before', async () => {
    const modern = await routers.adapter(routers.config(await routers.simulate({ version: '7.8' })));
    await reachable(modern);
    expect((await modern.console(':put 1', TEXT)).text).toBe('1\n');
    const old = await routers.adapter(routers.config(await routers.simulate({ version: '7.7' })));
    await reachable(old);
    await expect(old.console(':put 1', TEXT)).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe('a router without SSH', () => {
  it('offers no connections through it and no files', async () => {
    const adapter = await routers.adapter(routers.config(await routers.simulate()));
    await expect(adapter.openTcp({ host: '10.0.0.1', port: 80 }, SOON)).rejects.toMatchObject({ code: 'unsupported' });
    await expect(adapter.readFile('x', TEXT)).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe('a router with SSH alone', () => {
  it('is lost and found again', async () => {
    const simulator = await routers.simulate();
    const adapter = await routers.adapter(routers.config(simulator, { ssh: true }));
    await reachable(adapter);
    await adapter.testLogin(SOON);
    simulator.faults.resetConnections();
    await eventually(() => expect(adapter.state().reachable).toBe(false));
    routers.clock.advance(1);
    await reachable(adapter);
  });

  it.each(['6.49.10', '7.18.2'])('accepts commands on its console, %s', async (version) => {
    const adapter = await routers.adapter(routers.config(await routers.simulate({ version }), { ssh: true }));
    await reachable(adapter);
    const command = (path: string, ...words: string[]) => adapter.command({ path, words }, SOON);
    const comment = 'Büro "Süd"; $x = 5? \\ end';
    const { ret } = await command('/ip/address/add', '=address=10.9.8.1/24', '=interface=ether2', `=comment=${comment}`);
    expect(ret).toMatch(/^\*[0-9A-F]+$/);
    const find = async () => (await command('/ip/address/print', '?address=10.9.8.1/24', '=.proplist=.id,address,comment')).rows;
    expect(await find()).toEqual([{ '.id': ret, address: '10.9.8.1/24', comment }]);
    expect(await command('/ip/address/set', `=.id=${ret}`, '=comment=')).toEqual({ rows: [] });
    expect((await find())[0]?.['comment'] ?? '').toBe('');
    expect(await command('/ip/address/remove', `=.id=${ret}`)).toEqual({ rows: [] });
    expect(await find()).toEqual([]);
    expect((await command('/system/identity/print')).rows).toEqual([{ name: 'MikroTik' }]);
    await expect(command('/ip/address/remove', `=.id=${ret}`)).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('no such item'),
    });
    await expect(command('/ip/nonsense/print')).rejects.toMatchObject({ code: 'rejected' });
    await expect(command('/ip/address/print', '?>address=1', '?#!')).rejects.toMatchObject({ code: 'unsupported' });
    await expect(command('/interface/listen')).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe('an SSH session that broke', () => {
  it('is opened again for the next operation', async () => {
    const simulator = await routers.simulate({ version: '6.49.10' });
    const adapter = await routers.adapter(routers.config(simulator, { api: true, ssh: true }));
    await reachable(adapter);
    expect((await adapter.console(':put 1', TEXT)).text).toBe('1\n');
    simulator.faults.resetConnections();
    await eventually(() => expect(adapter.state().reachable).toBe(false));
    expect((await adapter.console(':put 2', TEXT)).text).toBe('2\n');
  });
});
