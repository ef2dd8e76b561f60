import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/index.ts';
import { RawClient } from './raw-client.ts';

let router: Simulator;
let client: RawClient;
let target: Server;
let targetPort: number;
let entryPort: number;
const sockets = new Set<Socket>();

/** A port nobody listens on at the moment. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

beforeEach(async () => {
  // Answers a whole request only after its end has come: half-close must be kept.
  target = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.on('end', () => socket.end(Buffer.concat(parts).toString('latin1').toUpperCase()));
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  targetPort = (target.address() as AddressInfo).port;
  entryPort = await freePort();
  router = await startSimulator({
    sshPort: null,
    hosts: { '192.168.88.10': '127.0.0.1', '192.168.88.66': { address: '127.0.0.1', routesBack: false } },
  });
  client = await RawClient.login(router.apiPort);
});

afterEach(async () => {
  client.socket.destroy();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await router.close();
  target.close();
});

const addRule = (...words: string[]): Promise<string> =>
  client.ret(
    '/ip/firewall/nat/add',
    '=chain=dstnat',
    '=action=dst-nat',
    '=protocol=tcp',
    `=dst-port=${entryPort}`,
    `=to-ports=${targetPort}`,
    ...(words.some((word) => word.startsWith('=to-addresses=')) ? [] : ['=to-addresses=192.168.88.10']),
    ...words,
  );

async function dial(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: entryPort, allowHalfOpen: true });
  sockets.add(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** What the target answers; '' when the connection is reset or refused. */
async function ask(text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: entryPort, allowHalfOpen: true });
  sockets.add(socket);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => undefined);
  socket.end(text);
  await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(parts).toString('latin1');
}

describe('a dst-nat rule', () => {
  it('forwards as soon as it is answered, half-close and all, and counts', async () => {
    const id = await addRule();
    expect(await ask('hello')).toBe('HELLO');
    await expect
      .poll(() => router.items('/ip/firewall/nat').find((rule) => rule['.id'] === id))
      .toMatchObject({ packets: '1', bytes: '10' });
  });

  it('stops when it is disabled or removed, and only then', async () => {
    const id = await addRule();
    await client.talk('/ip/firewall/nat/disable', `=.id=${id}`);
    expect(await ask('a')).toBe('');
    await client.talk('/ip/firewall/nat/enable', `=.id=${id}`);
    expect(await ask('a')).toBe('A');
    await client.talk('/ip/firewall/nat/remove', `=.id=${id}`);
    expect(await ask('a')).toBe('');
  });

  it('serves only the sources it names', async () => {
    const id = await addRule('=src-address=203.0.113.7');
    expect(await ask('a')).toBe('');
    await client.talk('/ip/firewall/nat/set', `=.id=${id}`, '=src-address=127.0.0.0/8');
    expect(await ask('a')).toBe('A');
    await client.talk('/ip/firewall/nat/set', `=.id=${id}`, '=in-interface-list=WAN');
    expect(await ask('a')).toBe('');
  });

  it('comes after the rules before it', async () => {
    const id = await addRule();
    await client.ret(
      '/ip/firewall/nat/add',
      '=chain=dstnat',
      '=action=accept',
      '=protocol=tcp',
      `=dst-port=${entryPort}`,
      `=place-before=${id}`,
    );
    expect(await ask('a')).toBe('');
  });

  it('leaves its connections alone when it goes; conntrack cuts them', async () => {
    const id = await addRule();
    const socket = await dial();
    socket.write('first');
    await expect.poll(() => router.items('/ip/firewall/connection')).toHaveLength(1);
    await client.talk('/ip/firewall/nat/remove', `=.id=${id}`);
    const [connection] = await client.rows('/ip/firewall/connection/print');
    expect(connection).toMatchObject({ protocol: 'tcp', 'reply-src-address': `192.168.88.10:${targetPort}`, dstnat: 'true' });
    expect(socket.destroyed).toBe(false);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await client.talk('/ip/firewall/connection/remove', `=.id=${connection?.['.id'] ?? ''}`);
    await closed;
    expect(router.items('/ip/firewall/connection')).toEqual([]);
  });

  it('is no use to a target that answers elsewhere, until a masquerade rule hides the client', async () => {
    await addRule('=to-addresses=192.168.88.66');
    const lost = await dial();
    let received = 0;
    lost.on('data', () => (received += 1));
    lost.end('a');
    await client.ret('/ip/firewall/nat/add', '=chain=srcnat', '=action=masquerade', '=protocol=tcp', '=dst-address=192.168.88.66');
    expect(await ask('a')).toBe('A');
    expect(received).toBe(0);
  });

  it('needs the forward chain to let it through', async () => {
    await addRule();
    await client.ret('/ip/firewall/filter/add', '=chain=forward', '=action=reject', '=dst-address=192.168.88.10');
    expect(await ask('a')).toBe('');
  });

  it('survives a reboot of the router, its connections do not', async () => {
    await addRule();
    const socket = await dial();
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await router.reboot();
    await closed;
    expect(await ask('a')).toBe('A');
  });
});

describe('a lock-out', () => {
  it('by a drop rule: new clients hang, old ones hear nothing more, the command itself is answered', async () => {
    await using bystander = await RawClient.login(router.apiPort);
    const answer = await client.talk(
      '/ip/firewall/filter/add',
      '=chain=input',
      '=protocol=tcp',
      '=dst-port=8728',
      '=action=drop',
      '=place-before=*1',
    );
    expect(answer).toMatchObject([['!done', expect.stringMatching(/^=ret=/)]]);
    const late = connect({ host: '127.0.0.1', port: router.apiPort });
    sockets.add(late);
    let heard = 0;
    for (const socket of [late, bystander.socket]) socket.on('data', () => (heard += 1));
    late.write('\u0006/login\u0000');
    bystander.send('/system/identity/print');
    // Long enough for a router that would answer; the rest of the suite answers in single milliseconds.
    await expect.poll(() => router.router.admits(8728, '127.0.0.1')).toBe(false);
    await ask('unrelated round trip');
    expect(heard).toBe(0);
    expect(bystander.socket.destroyed).toBe(false);
    router.router.table('/ip/firewall/filter').remove(router.router.table('/ip/firewall/filter').items[0] ?? (undefined as never));
    await using again = await RawClient.login(router.apiPort);
    expect(await again.rows('/system/identity/print')).toHaveLength(1);
  });

  it('that ends lets held-back sessions go on where they were', async () => {
    const filter = router.router.table('/ip/firewall/filter');
    const rule = filter.add(
      [
        ['chain', 'input'],
        ['action', 'drop'],
        ['protocol', 'tcp'],
        ['disabled', 'false'],
      ],
      { before: filter.items[0] },
    );
    // The rule takes effect after the present turn.
    await new Promise((resolve) => setImmediate(resolve));
    client.send('/system/identity/print');
    filter.remove(rule);
    expect(await client.next()).toEqual(['!re', '=name=MikroTik']);
  });

  it('spares established connections behind the usual accept rule', async () => {
    await client.talk('/ip/firewall/filter/add', '=chain=input', '=protocol=tcp', '=dst-port=8728', '=action=drop');
    expect(router.router.admits(8728, '127.0.0.1')).toBe(false);
    expect(await client.rows('/system/identity/print')).toHaveLength(1);
  });

  it('by disabling the service: refused, and open sessions closed', async () => {
    await client.talk('/ip/service/disable', '=.id=api');
    await client.closed();
    expect(await RawClient.isRefused(router.apiPort)).toBe(true);
  });

  it('by removing the address clients use', async () => {
    await client.talk('/ip/address/remove', '=.id=*1');
    expect(router.router.admits(8728, '127.0.0.1')).toBe(false);
  });

  it('by removing the user', async () => {
    await client.talk('/user/add', '=name=other', '=group=full');
    await client.talk('/user/remove', '=.id=admin');
    await client.closed();
    expect(await (await RawClient.open(router.apiPort)).talk('/login', '=name=admin', '=password=')).toHaveLength(2);
  });
});
