import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NetworkLab, whyNoLab } from '../harness/network-lab.ts';
import { fileURLToPath } from 'node:url';
import { RawClient } from '../unit/simulator/raw-client.ts';

/**
 * The simulator's rules in the kernel of a network namespace: the same promises as those of its relay
 * (test/unit/simulator/nat.test.ts), kept by real packets.
 */

const reason = whyNoLab();
if (reason !== undefined) process.stderr.write(`dst-nat by nftables is not tested: ${reason}\n`);

const LAN_HOST = fileURLToPath(new URL('../harness/lan-host.ts', import.meta.url));
const ENTRY = 61_234;

describe.skipIf(reason !== undefined)('rules of /ip/firewall/nat in the kernel', () => {
  let lab: NetworkLab;
  let client: RawClient;
  let seeded: string[];
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    lab = await NetworkLab.open({ users: [{ name: 'admin', password: 'x' }] });
    const host = lab.startInLan(process.execPath, [LAN_HOST]);
    await once(host.stdout!, 'data');
    client = await RawClient.login(8728, 'admin', 'x', lab.routerAddress);
  });

  afterAll(async () => {
    client?.socket.destroy();
    await lab?.close();
  });

  beforeEach(async () => {
    seeded = (await lab.items('/ip/firewall/nat')).flatMap((rule) => rule['.id'] ?? []);
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    for (const menu of ['nat', 'filter']) {
      const ids = (await client.rows(`/ip/firewall/${menu}/print`, '?comment=test')).map((rule) => rule['.id']);
      if (ids.length > 0) await client.ret(`/ip/firewall/${menu}/remove`, `=.id=${ids.join(',')}`);
    }
  });

  const add = (...words: string[]): Promise<string> =>
    client.ret('/ip/firewall/nat/add', '=comment=test', '=protocol=tcp', `=place-before=${seeded[0]}`, ...words);
  const dstNat = (...words: string[]): Promise<string> =>
    add('=chain=dstnat', '=action=dst-nat', `=dst-port=${ENTRY}`, `=to-addresses=${lab.lanAddress}`, '=to-ports=7', ...words);
  const masquerade = (): Promise<string> => add('=chain=srcnat', '=action=masquerade', `=dst-address=${lab.lanAddress}`);

  async function dial(from = lab.agentAddress): Promise<Socket> {
    const socket = connect({ host: lab.routerAddress, port: ENTRY, localAddress: from, allowHalfOpen: true, timeout: 700 });
    sockets.add(socket);
    socket.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', () => resolve());
      socket.once('error', reject);
      socket.once('timeout', () => reject(new Error('lost')));
    });
    socket.setTimeout(0);
    return socket;
  }

  /** What the echo answers, or how the connection failed. */
  async function ask(from?: string): Promise<string> {
    try {
      const socket = await dial(from);
      socket.end('hello');
      const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(5000) })) as [Buffer];
      return answer.toString();
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    }
  }

  const established = async (): Promise<Record<string, string>[]> =>
    (await client.rows('/ip/firewall/connection/print')).filter((row) => row['dstnat'] === 'true' && row['tcp-state'] === 'established');

  test('are nft rules; forward only where masquerade hides the client, for the target answers to another gateway', async () => {
    const id = await dstNat();
    expect(await lab.rules()).toMatch(
      new RegExp(`tcp dport ${ENTRY} counter packets 0 bytes 0 dnat to 192.168.88.10:7 comment "/ip/firewall/nat \\${id}"`),
    );
    expect(await ask()).toBe('lost');
    await masquerade();
    expect(await ask()).toBe('hello');
    expect(Number((await client.rows('/ip/firewall/nat/print', `?.id=${id}`))[0]?.['packets'])).toBeGreaterThan(0);
  });

  test('stop when they are disabled or removed', async () => {
    await masquerade();
    const id = await dstNat();
    await client.talk('/ip/firewall/nat/disable', `=.id=${id}`);
    expect(await lab.rules()).not.toContain(`dport ${ENTRY}`);
    expect(await ask()).toBe('ECONNREFUSED');
    await client.talk('/ip/firewall/nat/enable', `=.id=${id}`);
    expect(await ask()).toBe('hello');
    await client.talk('/ip/firewall/nat/remove', `=.id=${id}`);
    expect(await lab.rules()).not.toContain(`dport ${ENTRY}`);
    expect(await ask()).toBe('ECONNREFUSED');
  });

  test('serve the sources, interfaces and address lists they name', async () => {
    await masquerade();
    const id = await dstNat(`=src-address=${lab.agentAddress}`, '=dst-address-type=local');
    expect([await ask(), await ask(lab.strangerAddress)]).toEqual(['hello', 'ECONNREFUSED']);
    await client.talk('/ip/firewall/nat/set', `=.id=${id}`, `=src-address=!${lab.agentAddress}`);
    expect([await ask(), await ask(lab.strangerAddress)]).toEqual(['ECONNREFUSED', 'hello']);
    await client.talk('/ip/firewall/nat/set', `=.id=${id}`, '=!src-address=', '=in-interface-list=WAN');
    expect(await ask()).toBe('ECONNREFUSED');
    await client.talk('/ip/firewall/nat/set', `=.id=${id}`, '=in-interface-list=LAN', '=src-address-list=friends');
    expect(await ask()).toBe('ECONNREFUSED');
    await client.ret('/ip/firewall/address-list/add', '=list=friends', `=address=${lab.agentAddress}`);
    expect([await ask(), await ask(lab.strangerAddress)]).toEqual(['hello', 'ECONNREFUSED']);
  });

  test('come after the rules before them, through jumps', async () => {
    await masquerade();
    const id = await dstNat();
    await client.ret('/ip/firewall/nat/add', '=comment=test', '=chain=mine', '=action=accept', '=protocol=tcp', `=dst-port=${ENTRY}`);
    expect(await ask()).toBe('hello');
    await client.ret('/ip/firewall/nat/add', '=comment=test', '=chain=dstnat', '=action=jump', '=jump-target=mine', `=place-before=${id}`);
    expect(await ask()).toBe('ECONNREFUSED');
  });

  test('need the forward chain to let them through', async () => {
    await masquerade();
    await dstNat();
    await client.ret(
      '/ip/firewall/filter/add',
      '=comment=test',
      '=chain=forward',
      '=action=reject',
      '=reject-with=tcp-reset',
      '=protocol=tcp',
      `=dst-address=${lab.lanAddress}`,
    );
    expect(await ask()).toBe('ECONNREFUSED');
  });

  test('leave connections alone when they go; removing those from the tracking ends them', async () => {
    await masquerade();
    const id = await dstNat();
    const socket = await dial();
    socket.write('first');
    await once(socket, 'data');
    await client.talk('/ip/firewall/nat/remove', `=.id=${id}`);
    socket.write('second');
    await once(socket, 'data');
    const [connection] = await established();
    expect(connection).toMatchObject({
      'src-address': expect.stringContaining(`${lab.agentAddress}:`),
      'dst-address': `${lab.routerAddress}:${ENTRY}`,
      'reply-src-address': `${lab.lanAddress}:7`,
      'reply-dst-address': expect.stringContaining(`${lab.lanRouterAddress}:`),
      srcnat: 'true',
    });
    const failed = new Promise((resolve) => socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
    await client.talk('/ip/firewall/connection/remove', `=.id=${connection?.['.id']}`);
    socket.write('third');
    expect(await failed).toBe('ECONNRESET');
    expect(await established()).toEqual([]);
  });

  test('survive a reboot of the router, their connections do not', async () => {
    await masquerade();
    await dstNat();
    const socket = await dial();
    const failed = new Promise((resolve) => socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
    await lab.ask({ method: 'reboot' });
    client = await RawClient.login(8728, 'admin', 'x', lab.routerAddress);
    socket.write('anybody there?');
    expect(await failed).toBe('ECONNRESET');
    expect(await ask()).toBe('hello');
  });
});
