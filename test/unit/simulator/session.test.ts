import { afterEach, describe, expect, it } from 'vitest';
import { challengeResponse } from '../../simulator/api/login.ts';
import { ManualTime, startSimulator, type Simulator, type SimulatorOptions } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let simulator: Simulator | undefined;
const clients: RawClient[] = [];

async function start(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  simulator = await startSimulator({ sshPort: null, users: [{ name: 'admin', password: 'päss' }], ...options });
  return simulator;
}

async function open(port: number): Promise<RawClient> {
  const client = await RawClient.open(port);
  clients.push(client);
  return client;
}

async function login(port: number): Promise<RawClient> {
  const client = await RawClient.login(port, 'admin', 'päss');
  clients.push(client);
  return client;
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await simulator?.close();
});

describe('login', () => {
  it('takes name and password from 6.43 on', async () => {
    const client = await open((await start()).apiPort);
    expect(await client.talk('/login', '=name=admin', '=password=päss', '.tag=a')).toEqual([['!done', '.tag=a']]);
  });

  it('challenges older clients, and answers a plain attempt with the challenge too', async () => {
    const client = await open((await start({ version: '6.40.9' })).apiPort);
    const [challenge] = await client.talk('/login', '=name=admin', '=password=päss');
    const ret = challenge?.[1]?.replace('=ret=', '') ?? '';
    expect(ret).toMatch(/^[0-9a-f]{32}$/);
    const response = challengeResponse('päss', Buffer.from(ret, 'hex'));
    expect(await client.talk('/login', '=name=admin', `=response=${response}`)).toEqual([['!done']]);
    expect(await client.rows('/system/identity/print')).toEqual([{ name: 'MikroTik' }]);
  });

  it('takes a challenge once only', async () => {
    const client = await open((await start({ loginMethods: 'both' })).apiPort);
    const [challenge] = await client.talk('/login');
    const response = challengeResponse('wrong', Buffer.from(challenge?.[1]?.slice(5) ?? '', 'hex'));
    const right = challengeResponse('päss', Buffer.from(challenge?.[1]?.slice(5) ?? '', 'hex'));
    expect((await client.talk('/login', '=name=admin', `=response=${response}`))[0]?.[0]).toBe('!trap');
    expect((await client.talk('/login', '=name=admin', `=response=${right}`))[0]?.[0]).toBe('!trap');
  });

  it('throws a connection out at its fifth failure', async () => {
    const client = await open((await start()).apiPort);
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const answer = await client.talk('/login', '=name=admin', '=password=no');
      expect(answer).toEqual([['!trap', '=message=invalid user name or password (6)'], ['!done']]);
    }
    expect(await client.talk('/login', '=name=admin', '=password=no')).toEqual([['!fatal', 'too many commands before login']]);
    await client.closed();
  });

  it('says "cannot log in" before 6.43', async () => {
    const client = await open((await start({ version: '6.40.9' })).apiPort);
    await client.talk('/login');
    expect((await client.talk('/login', '=name=admin', '=response=00ff'))[0]).toEqual(['!trap', '=message=cannot log in']);
  });

  it('needs the policy api', async () => {
    const { apiPort } = await start({ groups: { ssher: ['ssh', 'read'] }, users: [{ name: 'u', password: '', group: 'ssher' }] });
    const client = await open(apiPort);
    expect((await client.talk('/login', '=name=u', '=password='))[0]?.[0]).toBe('!trap');
  });

  it('runs nothing before', async () => {
    const client = await open((await start()).apiPort);
    expect(await client.talk('/system/identity/print', '.tag=9')).toEqual([
      ['!trap', '.tag=9', '=message=not logged in'],
      ['!done', '.tag=9'],
    ]);
  });

  it('is in the log and among the active users', async () => {
    const router = await start();
    await login(router.apiPort);
    expect(router.log).toContain('user admin logged in from 127.0.0.1 via api');
    expect(router.items('/user/active')).toMatchObject([{ name: 'admin', address: '127.0.0.1', via: 'api' }]);
  });
});

describe('commands', () => {
  it('answer under their tags, which come right after the reply word', async () => {
    const client = await login((await start()).apiPort);
    client.send('/ip/address/print', '=.proplist=address', '?interface=bridge', '.tag=one');
    client.send('/system/identity/print', '.tag=two');
    const answer = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(answer).toEqual(
      expect.arrayContaining([
        ['!re', '.tag=one', '=address=192.168.88.1/24'],
        ['!done', '.tag=one'],
        ['!re', '.tag=two', '=name=MikroTik'],
        ['!done', '.tag=two'],
      ]),
    );
  });

  it('may be thousands at once', async () => {
    const client = await login((await start()).apiPort);
    for (let tag = 0; tag < 3000; tag += 1) client.send('/system/identity/print', `.tag=${tag}`);
    const done = new Set<string>();
    while (done.size < 3000) {
      const sentence = await client.next();
      if (sentence[0] === '!done') done.add(sentence[1] ?? '');
    }
  });

  it.each([
    [
      '7.18.2',
      [
        ['!empty', '.tag=5'],
        ['!done', '.tag=5'],
      ],
    ],
    ['7.17', [['!done', '.tag=5']]],
    ['6.49.18', [['!done', '.tag=5']]],
  ])("with nothing to show end on %s in the version's own way", async (version, answer) => {
    const client = await login((await start({ version })).apiPort);
    expect(await client.talk('/ip/dns/static/print', '.tag=5')).toEqual(answer);
  });

  it('give empty rows for an unknown property, and a bare number for count-only', async () => {
    const client = await login((await start()).apiPort);
    const answer = await client.talk('/ip/service/print', '=.proplist=comment');
    expect(answer).toEqual([...Array.from({ length: 8 }, () => ['!re']), ['!done']]);
    expect(await client.talk('/ip/service/print', '=count-only=', '?disabled=false')).toEqual([['!done', '=ret=4']]);
  });

  it('that do not exist are refused twice by v7, once by v6', async () => {
    const seven = await login((await start()).apiPort);
    expect(await seven.talk('/system/nonsense/print')).toEqual([
      ['!trap', '=category=0', '=message=no such command or directory (nonsense)'],
      ['!trap', '=category=0', '=message=no such command prefix'],
      ['!done'],
    ]);
    expect(await seven.talk('/ip/address/frob')).toEqual([['!trap', '=category=0', '=message=no such command'], ['!done']]);
    await simulator?.close();
    const six = await login((await start({ version: '6.49.18' })).apiPort);
    expect(await six.talk('/system/nonsense/print')).toEqual([['!trap', '=category=0', '=message=no such command prefix'], ['!done']]);
  });

  it('without the right are refused', async () => {
    const { apiPort } = await start({ users: [{ name: 'admin', password: 'päss', group: 'read' }] });
    const client = await login(apiPort);
    expect(await client.talk('/ip/address/remove', '=.id=*1')).toEqual([['!trap', '=message=not enough permissions (9)'], ['!done']]);
    expect(await client.rows('/system/identity/print')).toHaveLength(1);
  });

  it('/quit says goodbye and hangs up', async () => {
    const client = await login((await start()).apiPort);
    expect(await client.talk('/quit', '.tag=1')).toEqual([['!fatal', 'session terminated on request']]);
    await client.closed();
  });
});

describe('listen and cancel', () => {
  it('sends full records on change, .dead on removal, and ends in the documented order', async () => {
    const { apiPort } = await start();
    const [listener, editor] = [await login(apiPort), await login(apiPort)];
    listener.send('/ip/address/listen', '.tag=2');
    const id = await editor.ret('/ip/address/add', '=address=10.1.1.1/24', '=interface=ether1');
    expect(await listener.next()).toEqual([
      '!re',
      '.tag=2',
      `=.id=${id}`,
      '=address=10.1.1.1/24',
      '=network=10.1.1.0',
      '=interface=ether1',
      '=actual-interface=ether1',
      '=invalid=false',
      '=dynamic=false',
      '=disabled=false',
    ]);
    await editor.talk('/ip/address/disable', `=.id=${id}`);
    expect(await listener.next()).toContain('=disabled=true');
    await editor.talk('/ip/address/remove', `=.id=${id}`);
    expect(await listener.next()).toEqual(['!re', '.tag=2', `=.id=${id}`, '=.dead=true']);
    listener.send('/cancel', '=tag=2', '.tag=3');
    expect([await listener.next(), await listener.next(), await listener.next()]).toEqual([
      ['!trap', '.tag=2', '=category=2', '=message=interrupted'],
      ['!done', '.tag=3'],
      ['!done', '.tag=2'],
    ]);
  });

  it('print follow shows what is there first, follow-only does not', async () => {
    const { apiPort } = await start();
    const [client, editor] = [await login(apiPort), await login(apiPort)];
    client.send('/ip/pool/print', '=follow=', '=.proplist=name', '.tag=a');
    expect(await client.next()).toEqual(['!re', '.tag=a', '=name=default-dhcp']);
    client.send('/ip/pool/print', '=follow-only=', '=.proplist=name', '.tag=b');
    await editor.talk('/ip/pool/add', '=name=more', '=ranges=10.9.9.1-10.9.9.9');
    const both = [await client.next(), await client.next()];
    expect(both).toEqual(
      expect.arrayContaining([
        ['!re', '.tag=a', '=name=more'],
        ['!re', '.tag=b', '=name=more'],
      ]),
    );
  });

  it('/cancel without a tag ends everything', async () => {
    const client = await login((await start()).apiPort);
    client.send('/log/listen', '.tag=1');
    client.send('/interface/listen', '.tag=2');
    const answer = await client.talk('/cancel');
    expect(answer).toEqual([
      ['!trap', '.tag=1', '=category=2', '=message=interrupted'],
      ['!trap', '.tag=2', '=category=2', '=message=interrupted'],
      ['!done'],
    ]);
  });
});

describe('sampling', () => {
  it('sends a numbered row every second, for a while, once, or until cancelled', async () => {
    const time = new ManualTime();
    const client = await login((await start({ time })).apiPort);
    expect(await client.rows('/interface/monitor-traffic', '=interface=ether1,bridge', '=once=')).toMatchObject([
      { name: 'ether1' },
      { name: 'bridge' },
    ]);
    client.send('/interface/ethernet/monitor', '=.id=ether1', '=duration=2s', '.tag=m');
    const sections: string[] = [];
    for (let sentence = await client.next(); sentence[0] === '!re'; sentence = await client.next()) {
      sections.push(sentence.at(-1) ?? '');
      await time.advance(1000);
    }
    expect(sections).toEqual(['=.section=0', '=.section=1', '=.section=2']);
    client.send('/ping', '=address=192.168.88.10', '.tag=p');
    expect(await client.next()).toEqual(expect.arrayContaining(['=seq=0', '=host=192.168.88.10', '=received=1', '=packet-loss=0']));
    expect(await client.talk('/cancel', '=tag=p')).toEqual([['!trap', '.tag=p', '=category=2', '=message=interrupted'], ['!done']]);
  });

  it('serves no more sessions than /ip/service allows', async () => {
    const router = await start();
    const client = await login(router.apiPort);
    await client.talk('/ip/service/set', '=.id=api', '=max-sessions=1');
    expect(await RawClient.isRefused(router.apiPort)).toBe(true);
    await client.talk('/ip/service/set', '=.id=api', '=max-sessions=2');
    expect(await (await login(router.apiPort)).rows('/user/active/print')).toHaveLength(2);
  });
});

describe('failures on purpose', () => {
  it('bytes arrive one by one and make the same sentences', async () => {
    const router = await start();
    const client = await login(router.apiPort);
    const whole = await client.talk('/ip/address/print');
    router.faults.splitReplies = true;
    const pieces: number[] = [];
    client.socket.on('data', (chunk: Buffer) => pieces.push(chunk.length));
    expect(await client.talk('/ip/address/print')).toEqual(whole);
    expect(Math.max(...pieces)).toBeLessThan(8);
  });

  it('a silent router runs the command and says nothing; a deaf one does not even run it', async () => {
    const router = await start();
    const client = await login(router.apiPort);
    router.faults.silent = true;
    client.send('/system/identity/set', '=name=quiet');
    await expect.poll(() => router.items('/system/identity')).toEqual([{ name: 'quiet' }]);
    router.faults.clear();
    router.faults.deaf = true;
    client.send('/system/identity/set', '=name=never');
    // The router has read everything once it sees the end behind it.
    client.socket.end();
    await client.closed();
    expect(router.items('/system/identity')).toEqual([{ name: 'quiet' }]);
    expect(router.router.executions.containing('never')).toEqual([]);
  });

  it('connections are fed rubbish, reset, and refused', async () => {
    const router = await start();
    const client = await login(router.apiPort);
    router.faults.garbage();
    await expect.poll(() => client.fault?.fault).toBe('control-byte');
    router.faults.refuseConnections = true;
    router.faults.resetConnections();
    await client.closed();
    expect(await RawClient.isRefused(router.apiPort)).toBe(true);
    router.faults.clear();
    expect(await (await login(router.apiPort)).rows('/system/identity/print')).toHaveLength(1);
  });

  it('a slow router answers late, by its own time', async () => {
    const time = new ManualTime();
    const router = await start({ time });
    const client = await login(router.apiPort);
    router.faults.delayMs = 60_000;
    client.send('/system/identity/set', '=name=slow');
    await expect.poll(() => router.items('/system/identity')).toEqual([{ name: 'slow' }]);
    await time.advance(60_000);
    expect(await client.next()).toEqual(['!done']);
  });

  it('a control byte from the client ends the connection', async () => {
    const client = await login((await start()).apiPort);
    client.socket.write(Buffer.from([0xf9]));
    await client.closed();
  });
});
