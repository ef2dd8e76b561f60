import { afterEach, describe, expect, it } from 'vitest';
import { ManualTime, startSimulator, type Simulator, type SimulatorOptions } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let simulator: Simulator | undefined;
let client: RawClient;
const time = new ManualTime('2026-11-20T10:00:00Z');

async function start(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  simulator = await startSimulator({ sshPort: null, time, uptimeMs: 3_600_000, ...options });
  client = await RawClient.login(simulator.apiPort);
  return simulator;
}

afterEach(async () => {
  client.socket.destroy();
  await simulator?.close();
});

const addEntry = (...words: string[]): Promise<string> =>
  client.ret('/system/scheduler/add', '=name=x', '=on-event=/log info fired', ...words);
const entry = async (): Promise<Record<string, string>> => (await client.rows('/system/scheduler/print'))[0] ?? {};
const fired = (): number => simulator?.log.filter((line) => line === 'fired').length ?? 0;

describe('the scheduler', () => {
  it('fires at its interval, counting and telling when next', async () => {
    await start();
    await addEntry('=interval=10m');
    expect(await entry()).toMatchObject({ 'run-count': '0', interval: '10m', owner: 'admin' });
    await time.advance(25 * 60_000);
    expect(fired()).toBe(2);
    expect((await entry())['run-count']).toBe('2');
  });

  it("with interval 0 fires once, at its date and time by the router's own clock", async () => {
    const router = await start({ clock: '2030-01-01T00:00:00Z' });
    await addEntry('=start-date=2030-01-01', '=start-time=00:05:00');
    expect((await entry())['next-run']).toBe('2030-01-01 00:05:00');
    await time.advance(4 * 60_000);
    expect(fired()).toBe(0);
    await time.advance(60_000);
    expect(fired()).toBe(1);
    await time.advance(86_400_000);
    expect(fired()).toBe(1);
    expect(await entry()).not.toHaveProperty('next-run');
    expect(router.executions.filter((run) => run.kind === 'scheduler')).toMatchObject([{ name: 'x', outcome: 'ok', user: 'admin' }]);
  });

  it('never fires what already lies in the past', async () => {
    await start();
    await addEntry('=start-date=2020-01-01', '=start-time=00:00:00');
    await time.advance(86_400_000);
    expect(fired()).toBe(0);
  });

  it('is thrown off by a wrong clock and comes right when it is set', async () => {
    const router = await start({ clock: 'unset', uptimeMs: 0 });
    expect((await client.rows('/system/clock/print'))[0]).toMatchObject({ date: '1970-01-02', time: '00:00:00' });
    await addEntry('=start-date=2026-11-20', '=start-time=12:00:00');
    router.router.clock.setUtc(Date.parse('2026-11-20T11:59:00Z'));
    await time.advance(60_000);
    expect(fired()).toBe(1);
  });

  it('with start-time=startup fires three seconds after boot, every boot', async () => {
    const router = await start();
    await addEntry('=start-time=startup', '=interval=0');
    await time.advance(10_000);
    expect(fired()).toBe(0);
    for (const boots of [1, 2]) {
      await router.reboot();
      await time.advance(2999);
      expect(router.executions.filter((run) => run.kind === 'scheduler')).toHaveLength(boots - 1);
      await time.advance(1);
      expect(router.executions.filter((run) => run.kind === 'scheduler')).toHaveLength(boots);
    }
  });

  it('runs a script by its name, with its books kept', async () => {
    await start();
    await client.talk('/system/script/add', '=name=job', '=source=/log info fired');
    await client.talk('/system/scheduler/add', '=name=y', '=on-event=job', '=interval=1m');
    await time.advance(61_000);
    expect(fired()).toBe(1);
    expect((await client.rows('/system/script/print'))[0]).toMatchObject({
      'run-count': '1',
      'last-started': expect.stringMatching(/^20/),
    });
  });

  it('does not fire when disabled, removed, or the router is off', async () => {
    const router = await start();
    const id = await addEntry('=interval=1m');
    await client.talk('/system/scheduler/disable', `=.id=${id}`);
    await time.advance(120_000);
    await client.talk('/system/scheduler/enable', `=.id=${id}`);
    await client.talk('/system/scheduler/remove', `=.id=${id}`);
    await time.advance(120_000);
    await addEntry('=interval=1m');
    const down = router.reboot({ downMs: 600_000 });
    await time.advance(599_000);
    expect(router.executions.filter((run) => run.kind === 'scheduler')).toEqual([]);
    await time.advance(1000);
    await down;
  });

  it('removes itself and a tagged rule, as a fail-safe does', async () => {
    await start();
    await client.talk('/ip/firewall/nat/add', '=chain=dstnat', '=action=accept', '=comment=tag:1');
    await addEntry('=interval=1m');
    const source = '/ip/firewall/nat/remove [find comment="tag:1"]; /system/scheduler/remove [find name=x]';
    await client.talk('/system/scheduler/set', '=.id=x', `=on-event=${source}`);
    await time.advance(60_000);
    expect(await client.rows('/ip/firewall/nat/print', '?comment=tag:1')).toEqual([]);
    expect(await client.rows('/system/scheduler/print')).toEqual([]);
  });

  it('is refused where the device mode forbids it', async () => {
    await start({ deviceMode: 'home' });
    await expect(addEntry('=interval=1m')).rejects.toThrow('failure: not allowed by device-mode');
  });

  it.each([
    ['7.18.2', '2026-11-20'],
    ['7.9.2', 'nov/20/2026'],
    ['6.49.18', 'nov/20/2026'],
  ])('on %s writes dates as %s', async (version, date) => {
    const router = await start({ version, clock: '2026-11-20T10:00:00Z' });
    await addEntry('=interval=1m');
    expect((await entry())['start-date']).toBe(date);
    expect(router.items('/system/clock')).toMatchObject([{ date, time: '10:00:00' }]);
  });
});

describe('a reboot', () => {
  it('drops every session, restarts uptime, and keeps the configuration', async () => {
    const router = await start({ model: 'RB4011iGS+' });
    await client.talk('/ip/pool/add', '=name=kept', '=ranges=10.0.0.1-10.0.0.2');
    await router.reboot();
    await client.closed();
    client = await RawClient.login(router.apiPort);
    expect(await client.rows('/ip/pool/print', '?name=kept')).toHaveLength(1);
    expect((await client.rows('/system/resource/print'))[0]).toMatchObject({ uptime: '0s' });
    expect(router.log[0]).toBe('router rebooted');
  });

  it('refuses connections while it lasts, and interrupts what runs', async () => {
    const router = await start();
    await client.talk('/execute', '=script=:delay 1h; /log info fired');
    const up = router.reboot({ downMs: 30_000 });
    await client.closed();
    expect(await RawClient.isRefused(router.apiPort)).toBe(true);
    await time.advance(30_000);
    await up;
    await time.advance(7_200_000);
    expect(fired()).toBe(0);
    expect(router.executions.filter((run) => run.kind === 'execute')).toMatchObject([{ outcome: 'interrupted' }]);
    client = await RawClient.login(router.apiPort);
  });

  it('by command answers first', async () => {
    const router = await start({ rebootMs: 5000 });
    expect(await client.talk('/system/reboot')).toEqual([['!done']]);
    await time.advance(100);
    await client.closed();
    await time.advance(5000);
    client = await RawClient.login(router.apiPort);
  });

  it('takes the clock back to 1970 where nothing sets it, and files that are not in flash', async () => {
    const router = await start({ clock: 'unset', model: 'hAP-ac2' });
    router.router.clock.setUtc(Date.parse('2026-01-01T00:00:00Z'));
    router.router.files.write('lost.txt', 'x');
    router.router.files.write('flash/kept.txt', 'x');
    await router.reboot();
    expect(router.items('/system/clock')[0]).toMatchObject({ date: '1970-01-02' });
    expect(router.items('/file').map((file) => file['name'])).toEqual(['flash', 'flash/kept.txt']);
  });
});
