import { afterEach, describe, expect, it } from 'vitest';
import { ManualTime, startSimulator, type Simulator, type SimulatorOptions } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let simulator: Simulator;
let client: RawClient;
const time = new ManualTime();

async function start(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  simulator = await startSimulator({ sshPort: null, time, model: 'RB4011iGS+', ...options });
  client = await RawClient.login(simulator.apiPort);
  return simulator;
}

afterEach(async () => {
  client.socket.destroy();
  await simulator.close();
});

const sizeOf = async (name: string): Promise<string | undefined> => (await client.rows('/file/print', `?name=${name}`))[0]?.['size'];

describe('files', () => {
  it('are added, set, read in pieces and removed', async () => {
    await start();
    const id = await client.ret('/file/add', '=name=a.txt', '=contents=0123456789');
    expect(await client.rows('/file/print', '?name=a.txt')).toMatchObject([
      { '.id': id, type: '.txt file', size: '10', contents: '0123456789' },
    ]);
    expect(await client.rows('/file/read', '=file=a.txt', '=offset=4', '=chunk-size=3')).toEqual([{ data: '456' }]);
    await client.talk('/file/set', `=.id=${id}`, '=contents=new');
    expect(await sizeOf('a.txt')).toBe('3');
    await client.talk('/file/remove', '=.id=a.txt');
    expect(await client.rows('/file/print')).toEqual([]);
  });

  it('cannot be added by v6, nor read before 7.13', async () => {
    await start({ version: '6.49.18' });
    expect((await client.talk('/file/add', '=name=a'))[0]).toContain('=message=no such command');
    expect((await client.talk('/file/read', '=file=a'))[0]).toContain('=message=no such command');
  });

  it('show no contents when long or binary', async () => {
    const router = await start({ version: '7.12.2' });
    router.router.files.write('long.txt', 'x'.repeat(4097));
    router.router.files.write('bin', Buffer.from([0, 1, 2]));
    for (const file of await client.rows('/file/print')) expect(file).not.toHaveProperty('contents');
  });

  it('have size 0 until flash write-back is through', async () => {
    const router = await start({ fileSizeLagMs: 40_000 });
    router.router.files.write('x.backup', Buffer.alloc(100));
    expect(await sizeOf('x.backup')).toBe('0');
    await time.advance(40_000);
    expect(await sizeOf('x.backup')).toBe('100');
  });

  it('do not fit on a full disk', async () => {
    const router = await start();
    router.faults.diskFull = true;
    for (const words of [
      ['/export', '=file=x'],
      ['/system/backup/save', '=name=x'],
      ['/file/add', '=name=x'],
    ]) {
      expect((await client.talk(...words))[0]).toContain('=message=failure: not enough space on disk');
    }
  });
});

describe('backups', () => {
  it('bring everything back, with a reboot', async () => {
    const router = await start({ rebootMs: 1000 });
    await client.talk('/system/backup/save', '=name=before', '=password=s3cret');
    await client.talk('/system/identity/set', '=name=broken');
    await client.talk('/ip/address/remove', '=.id=*2');
    expect((await client.talk('/system/backup/load', '=name=before', '=password=wrong'))[0]?.[0]).toBe('!trap');
    expect(await client.talk('/system/backup/load', '=name=before', '=password=s3cret')).toEqual([['!done']]);
    await time.advance(100);
    await client.closed();
    await time.advance(1000);
    client = await RawClient.login(router.apiPort);
    expect(await client.rows('/system/identity/print')).toEqual([{ name: 'MikroTik' }]);
    expect(await client.rows('/ip/address/print', '?.id=*2')).toHaveLength(1);
    expect(await client.rows('/ip/route/print', '?dst-address=203.0.113.0/30')).toHaveLength(1);
  });

  it('loaded by the scheduler undo a lock-out without help', async () => {
    const router = await start({ rebootMs: 1000 });
    await client.talk('/system/backup/save', '=name=undo', '=dont-encrypt=yes');
    await client.talk('/system/scheduler/add', '=name=undo', '=interval=5m', '=on-event=/system backup load name=undo.backup password=""');
    await client.talk('/ip/firewall/filter/add', '=chain=input', '=action=drop', '=place-before=*1');
    await expect.poll(() => router.router.admits(8728, '127.0.0.1')).toBe(false);
    await time.advance(302_000);
    await client.closed();
    client = await RawClient.login(router.apiPort);
    expect(await client.rows('/ip/firewall/filter/print', '?action=drop', '?-comment')).toEqual([]);
    expect(await client.rows('/system/scheduler/print')).toEqual([]);
  });

  it('are binary, and need the right policies', async () => {
    const router = await start({
      groups: { half: ['api', 'read', 'write', 'ftp'] },
      users: [
        { name: 'admin', password: '' },
        { name: 'half', password: '', group: 'half' },
      ],
    });
    await client.talk('/system/backup/save', '=name=b', '=dont-encrypt=yes');
    expect(router.router.files.read('b.backup')?.subarray(0, 4).toString('hex')).toBe('88aca1b1');
    await using half = await RawClient.login(router.apiPort, 'half');
    expect((await half.talk('/system/backup/save', '=name=c'))[0]).toEqual(['!trap', '=message=not enough permissions (9)']);
  });
});

describe('exports', () => {
  it('go to a file, start with the version and hide secrets unless asked on v7', async () => {
    const router = await start();
    await client.talk('/export', '=file=x');
    const text = router.router.files.read('x.rsc')?.toString() ?? '';
    expect(text).toMatch(/^# \d{4}-\d\d-\d\d \d\d:\d\d:\d\d by RouterOS 7\.18\.2\r\n# software id = /);
    expect(text).toContain('/ip address\r\nadd address=192.168.88.1/24 comment=defconf interface=bridge');
    expect(text).not.toContain('/user');
  });

  it('terse puts each item on a line of its own; v6 has no show-sensitive', async () => {
    const router = await start({ version: '6.49.18', identity: 'two words' });
    await client.talk('/export', '=file=x', '=terse=');
    const lines = (router.router.files.read('x.rsc')?.toString() ?? '').split('\r\n');
    expect(lines[0]).toMatch(/^# \w{3}\/\d\d\/\d{4} \d\d:\d\d:\d\d by RouterOS 6\.49\.18$/);
    expect(lines).toContain('/system identity set name="two words"');
    expect((await client.talk('/export', '=show-sensitive='))[0]).toContain('=message=unknown parameter show-sensitive');
  });

  it('can be imported again', async () => {
    const router = await start();
    await client.talk('/ip/pool/add', '=name=extra', '=ranges=10.5.0.1-10.5.0.9', '=comment=with "quotes" and $dollar');
    await client.talk('/ip/pool/export', '=file=pool');
    await client.talk('/ip/pool/remove', '=numbers=extra,default-dhcp');
    expect(await client.talk('/import', '=file-name=pool.rsc')).toEqual([['!done']]);
    expect(router.items('/ip/pool')).toMatchObject([{ name: 'default-dhcp' }, { name: 'extra', comment: 'with "quotes" and $dollar' }]);
  });
});

describe('scripts', () => {
  it('run as text in the session from 7.8', async () => {
    await start();
    expect(await client.ret('/execute', '=script=:put [/system identity get name]', '=as-string=no')).toBe('MikroTik\r\n');
    expect(await client.ret('/execute', '=script=:error "x"', '=as-string=')).toMatch(/^x \(:error; line 1\)/);
  });

  it('run as a job that outlives its session and can be seen and stopped', async () => {
    const router = await start();
    const job = await client.ret('/execute', '=script=:delay 10s; /log info late');
    expect(job).toMatch(/^\*B5/);
    expect(await client.rows('/system/script/job/print', `?.id=${job}`)).toMatchObject([{ owner: 'admin' }]);
    client.socket.destroy();
    await client.closed();
    await time.advance(10_000);
    expect(router.log).toContain('late');
    client = await RawClient.login(router.apiPort);
    const second = await client.ret('/execute', '=script=:delay 10s; /log info later');
    await client.talk('/system/script/job/remove', `=.id=${second}`);
    await time.advance(10_000);
    expect(router.log).not.toContain('later');
  });

  it('give a row for each printing command, and their error as a trap', async () => {
    await start();
    await client.talk('/system/script/add', '=name=two', '=source=:put a\n:put b');
    expect(await client.rows('/system/script/run', '=number=two')).toEqual([{ '.section': '0' }, { '.section': '1' }]);
    await client.talk('/system/script/add', '=name=bad', '=source=:error "no luck"');
    expect((await client.talk('/system/script/run', '=number=bad'))[0]).toEqual(['!trap', '=message=no luck']);
  });

  it('are interrupted with their session, and the record says what really ran', async () => {
    const router = await start();
    await client.talk('/system/script/add', '=name=long', '=source=/log info begun; :delay 1h; /log info ended');
    client.send('/system/script/run', '=number=long');
    await expect.poll(() => router.log).toContain('begun');
    client.socket.destroy();
    await expect
      .poll(() => router.router.executions.containing('long').filter((run) => run.kind === 'script'))
      .toMatchObject([{ outcome: 'interrupted' }]);
    await time.advance(3_600_000);
    expect(router.log).not.toContain('ended');
  });

  it('cannot have more rights than their caller', async () => {
    const router = await start({
      groups: { few: ['api', 'read', 'write', 'test'] },
      users: [
        { name: 'admin', password: '' },
        { name: 'few', password: '', group: 'few' },
      ],
    });
    await client.talk('/system/script/add', '=name=big', '=source=/system reboot');
    await using few = await RawClient.login(router.apiPort, 'few');
    const refused = ['!trap', '=message=not enough permissions (9)'];
    expect((await few.talk('/system/script/run', '=number=big'))[0]).toEqual(refused);
    expect((await few.talk('/system/script/add', '=name=mine', '=source=x', '=policy=reboot'))[0]).toEqual(refused);
  });
});
