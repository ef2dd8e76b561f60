import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRouter, type CheckRow } from '../../agent/routers/check/index.ts';
import { openSsh } from '../../agent/routers/open-sessions.ts';
import type { RouterConfig } from '../../agent/routers/router.ts';
import { AgentRouters } from '../harness/agent-router.ts';
import type { Simulator, SimulatorOptions } from '../simulator/index.ts';

/** What `signalbox-agent check` says of a router. */

let routers: AgentRouters;

beforeEach(() => {
  routers = new AgentRouters();
});

afterEach(() => routers.close());

async function check(options: Partial<SimulatorOptions>, prepare?: (simulator: Simulator) => void): Promise<Record<string, CheckRow>> {
  const simulator = await routers.simulate(options);
  prepare?.(simulator);
  const rows = await checkRouter(routers.config(simulator, { api: true, ssh: true }), { stateFolder: await routers.stateFolder() });
  // Whatever was tried is gone again.
  for (const menu of ['/system/script', '/system/scheduler', '/ip/firewall/nat']) {
    expect(JSON.stringify(simulator.items(menu))).not.toContain('signalbox-check');
  }
  return Object.fromEntries(rows.map((row) => [row.what, row]));
}

const failed = (rows: Record<string, CheckRow>): string[] => Object.values(rows).flatMap(({ what, ok }) => (ok ? [] : [what]));

describe.each(['6.49.10', '7.18.2'])('a healthy router, %s', (version) => {
  it('has no warnings', async () => {
    const rows = await check({ version });
    expect(failed(rows)).toEqual([]);
    expect(Object.keys(rows)).toEqual(
      expect.arrayContaining([
        'api login',
        'ssh login',
        'inventory',
        'policy read',
        'policy write',
        'policy ftp',
        'policy reboot',
        'scripts',
        'scheduler',
        'forward rules',
        'console',
        'sftp',
        'ssh forwarding',
        'clock',
      ]),
    );
    expect(rows['inventory']?.detail).toContain(`RouterOS ${version}`);
  });
});

describe('a router where', () => {
  it('the user may only read lists each missing function', async () => {
    const users = [{ name: 'agent', password: 'Łódź€ secret', group: 'reader' }];
    const rows = await check({ users, groups: { reader: ['read', 'api', 'ssh'] } });
    expect(failed(rows)).toEqual(expect.arrayContaining(['policy write', 'policy ftp', 'scripts', 'scheduler', 'forward rules', 'sftp']));
    expect(rows['scripts']?.detail).toMatch(/not enough permissions.*\(jobs cannot run\)/);
    expect(rows['policy reboot']?.ok).toBe(true);
  });

  it.each([true, false])('the user may not reboot it names what grants it, with the API (%s) and with SSH', async (api) => {
    const may = ['read', 'write', 'api', 'ssh', 'test', 'policy', 'sensitive', 'ftp', 'password'];
    const simulator = await routers.simulate({
      users: [{ name: 'agent', password: 'Łódź€ secret', group: 'narrow' }],
      groups: { narrow: may },
    });
    const rows = await checkRouter(routers.config(simulator, { api, ssh: true }), { stateFolder: await routers.stateFolder() });
    const reboot = rows.find(({ what }) => what === 'policy reboot');
    expect(reboot).toMatchObject({ ok: true, warning: true, detail: expect.stringMatching(/^missing: .*no undo guard/) });
    expect(new Set(/set narrow policy=(\S+)/.exec(reboot!.detail)![1]!.split(','))).toEqual(new Set([...may, 'reboot']));
    // An entry that may do as much as a guard's is what the router refuses.
    if (api) expect(rows.find(({ what }) => what === 'scheduler')).toMatchObject({ ok: false });
  });

  it('device-mode forbids the scheduler lacks the undo guard', async () => {
    const rows = await check({ deviceMode: 'home' });
    expect(failed(rows)).toEqual(['scheduler']);
    expect(rows['scheduler']?.detail).toMatch(/device-mode.*no undo guard/);
  });

  it('the clock was never set gets the advice to use NTP', async () => {
    const rows = await check({ clock: 'unset' });
    expect(rows['clock']).toMatchObject({ ok: false, detail: expect.stringMatching(/^1970-01-0.*NTP/) });
  });

  it('nothing answers has two rows', async () => {
    const rows = await check({}, (simulator) => {
      simulator.faults.refuseConnections = true;
    });
    expect(Object.keys(rows)).toEqual(['api login', 'ssh login']);
    expect(failed(rows)).toEqual(['api login', 'ssh login']);
  });
});

describe('the users of terminals', () => {
  const users = [
    { name: 'agent', password: 'Łódź€ secret' },
    { name: 'looks', password: 'a', group: 'looking' },
    { name: 'curious', password: 'b', group: 'write' },
    { name: 'changes', password: 'c', group: 'full' },
  ];
  const groups = { looking: ['ssh', 'read', 'test'] };
  type Users = NonNullable<RouterConfig['terminal']>;

  const checkTerminals = async (terminal: Users | undefined, allowed: 'off' | 'read' | 'full', ssh = true): Promise<CheckRow[]> => {
    const simulator = await routers.simulate({ users, groups });
    const config = { ...routers.config(simulator, { api: true, ssh }), terminal: terminal && { port: simulator.sshPort, ...terminal } };
    const rows = await checkRouter(config, { stateFolder: await routers.stateFolder(), terminal: allowed });
    return rows.filter(({ what }) => what.startsWith('terminal'));
  };
  const read = { username: 'looks', password: 'a' };
  const full = { username: 'changes', password: 'c' };

  it('get a shell, and the check says what each may do', async () => {
    expect(await checkTerminals({ read, full }, 'full')).toMatchObject([
      { what: 'terminal read', ok: true, detail: 'a shell as looks; which may ssh, read, test (group looking)' },
      { what: 'terminal full', ok: true, detail: expect.stringMatching(/^a shell as changes; which may .*write.* \(group full\)$/) },
    ]);
  });

  it('are judged over SSH where the router has no API', async () => {
    const simulator = await routers.simulate({ users, groups });
    const config = { ...routers.config(simulator, { ssh: true }), terminal: { port: simulator.sshPort, read, full } };
    const rows = await checkRouter(config, { stateFolder: await routers.stateFolder(), terminal: 'full' });
    expect(rows.filter(({ what }) => what.startsWith('terminal'))).toMatchObject([
      { what: 'terminal read', ok: true, detail: 'a shell as looks; which may ssh, read, test (group looking)' },
      { what: 'terminal full', ok: true, detail: expect.stringMatching(/^a shell as changes; which may .*write/) },
    ]);
  });

  it('whose rights nobody knows are a warning with the reason and what it means', async () => {
    const simulator = await routers.simulate({ users, groups });
    const { ssh, ...config } = routers.config(simulator, { ssh: true });
    const terminal = { port: simulator.sshPort, read };
    const refused = { ...config, ssh: { ...ssh!, password: 'wrong' }, terminal };
    const rows = await checkRouter(refused, { stateFolder: await routers.stateFolder(), terminal: 'read' });
    expect(rows.find(({ what }) => what === 'terminal read')).toMatchObject({
      ok: true,
      warning: true,
      detail: expect.stringMatching(/^a shell as looks; .*the agent's own login failed; terminals open all the same/),
    });
  });

  it('that may do more than look are a warning, and so is one who should change something and cannot', async () => {
    const swapped = { read: { username: 'curious', password: 'b' }, full: { username: 'looks', password: 'a' } };
    expect(await checkTerminals(swapped, 'full')).toMatchObject([
      { ok: true, warning: true, detail: expect.stringContaining('more than looking: it may change the configuration') },
      { ok: true, warning: true, detail: expect.stringContaining('cannot change anything') },
    ]);
  });

  it('that nobody can use are named', async () => {
    expect(await checkTerminals({ read, full }, 'read')).toMatchObject([
      { what: 'terminal read', ok: true },
      { what: 'terminal full', ok: true, detail: expect.stringContaining('not offered: terminal is read in agent.yaml') },
    ]);
    expect(await checkTerminals({ full }, 'read')).toMatchObject([
      { what: 'terminal full' },
      { what: 'terminal', ok: true, warning: true, detail: expect.stringContaining('this router has no user for it') },
    ]);
    expect(await checkTerminals(undefined, 'off')).toEqual([]);
  });

  it('that are refused are a failure that says what does not work', async () => {
    expect(await checkTerminals({ read: { ...read, password: 'wrong' } }, 'read')).toMatchObject([
      { what: 'terminal read', ok: false, detail: expect.stringContaining('(no terminals of the level read)') },
    ]);
  });

  it('leave no host key behind, also where the agent itself uses no SSH', async () => {
    const simulator = await routers.simulate({ users, groups });
    const stateFolder = await routers.stateFolder();
    const config = { ...routers.config(simulator, { api: true }), terminal: { port: simulator.sshPort, read } };
    const rows = await checkRouter(config, { stateFolder, terminal: 'read' });
    expect(rows.find(({ what }) => what === 'ssh host key')).toMatchObject({ warning: true });
    expect(await readdir(stateFolder)).toEqual([]);
  });
});

describe('the certificate of a router', () => {
  const checkTls = async (tls: { fingerprint?: string; password?: string }, simulator: Simulator): Promise<CheckRow[]> => {
    const { api, ...config } = routers.config(simulator, { api: true });
    return checkRouter(
      { ...config, api: { ...api!, ...tls, port: simulator.apiTlsPort, tls: true } },
      { stateFolder: await routers.stateFolder() },
    );
  };

  it('that is not pinned is shown with the value for fingerprint', async () => {
    const simulator = await routers.simulate({ apiTlsPort: 0, tls: 'self-signed' });
    const rows = await checkTls({}, simulator);
    expect(rows).toMatchObject([
      { what: 'api login', ok: false },
      { what: 'api certificate', ok: true, warning: true },
    ]);
    const fingerprint = /set fingerprint: "([0-9A-F:]{95})"/.exec(rows[1]?.detail ?? '')?.[1] ?? 'none';
    expect((await checkTls({ fingerprint }, simulator))[0]).toMatchObject({ what: 'api login', ok: true });
  });

  it('is not asked for when it is pinned or absent', async () => {
    const pinned = await checkTls({ fingerprint: '00'.repeat(32) }, await routers.simulate({ apiTlsPort: 0, tls: 'self-signed' }));
    expect(pinned).toMatchObject([{ what: 'api login', ok: false }]);
    const without = await checkTls({}, await routers.simulate({ apiTlsPort: 0, version: '6.49.10' }));
    expect(without).toMatchObject([{ what: 'api login', ok: false }]);
  });
});

describe('the SSH key of a router', () => {
  const tryRouter = async (config: RouterConfig, stateFolder: string): Promise<CheckRow[]> => checkRouter(config, { stateFolder });
  const aboutKey = (rows: CheckRow[]): CheckRow | undefined => rows.find(({ what }) => what === 'ssh host key');
  const fingerprintIn = (row: CheckRow | undefined): string => /SHA256:[A-Za-z0-9+/]{43}/.exec(row?.detail ?? '')?.[0] ?? 'none';

  it('that is not pinned is a warning with the value for host_key', async () => {
    const config = routers.config(await routers.simulate(), { ssh: true });
    const stateFolder = await routers.stateFolder();
    const row = aboutKey(await tryRouter(config, stateFolder));
    expect(row).toMatchObject({ ok: true, warning: true, detail: expect.stringMatching(/^not verified: .*set host_key: "SHA256:/) });
    const pinned = { ...config, ssh: { ...config.ssh!, host_key: fingerprintIn(row) } };
    const rows = await tryRouter(pinned, stateFolder);
    expect(rows.find(({ what }) => what === 'ssh login')).toMatchObject({ ok: true });
    expect(aboutKey(rows)).toBeUndefined();
  });

  it('is not recorded by the check, only by the agent’s first connection', async () => {
    const stateFolder = await routers.stateFolder();
    await tryRouter(routers.config(await routers.simulate(), { ssh: true }), stateFolder);
    expect(await readdir(stateFolder)).toEqual([]);
  });

  it('is shown also when the login is refused, because the password was sent', async () => {
    const config = routers.config(await routers.simulate(), { ssh: true });
    const rows = await tryRouter({ ...config, ssh: { ...config.ssh!, password: 'wrong' } }, await routers.stateFolder());
    expect(rows).toMatchObject([
      { what: 'ssh login', ok: false },
      { what: 'ssh host key', ok: true, warning: true },
    ]);
  });

  it('that the agent has recorded is a warning, and a failure when it has changed', async () => {
    const config = routers.config(await routers.simulate(), { ssh: true });
    const stateFolder = await routers.stateFolder();
    const session = await openSsh(config, stateFolder, { timeoutMs: 10_000 });
    await session.close();
    const row = aboutKey(await tryRouter(config, stateFolder));
    expect(row).toMatchObject({ ok: true, warning: true, detail: expect.stringMatching(/trusted on first use.*set host_key: "SHA256:/) });
    const other = { ...routers.config(await routers.simulate(), { ssh: true }), name: config.name };
    const rows = await tryRouter(other, stateFolder);
    expect(rows).toMatchObject([{ what: 'ssh login', ok: false, detail: expect.stringContaining('has changed') }]);
  });
});
