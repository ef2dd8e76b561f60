import { createHash, X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { connectRouterOsApi, type RouterOsApi, type RouterOsApiOptions } from '../../agent/routers/routeros-api/index.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.ts';
import { eventually } from '../harness/wait-until.ts';

/** The API session itself against simulated routers: TLS, never-ending commands, many at a time, a router that fails. */

const SOON = { timeoutMs: 10_000 };
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function simulate(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({ users: [{ name: 'admin', password: 'pw' }], ...options });
  closers.push(() => simulator.close());
  return simulator;
}

async function connect(port: number, tls?: RouterOsApiOptions['tls']): Promise<RouterOsApi> {
  const api = await connectRouterOsApi({ host: '127.0.0.1', port, username: 'admin', password: 'pw', tls, deadline: SOON });
  closers.push(() => api.close());
  return api;
}

const identity = { path: '/system/identity/print', words: [] };

/** For a thousand commands together, milliseconds. */
const ALL_MS = 90_000;

describe('api-ssl', () => {
  it('with a self-signed certificate is trusted by its fingerprint', async () => {
    const simulator = await simulate({ apiTlsPort: 0, tls: 'self-signed' });
    const fingerprint = createHash('sha256')
      .update(new X509Certificate(simulator.tlsCertificate ?? '').raw)
      .digest('hex');
    const api = await connect(simulator.apiTlsPort, { fingerprint });
    expect((await api.command(identity, SOON)).rows).toEqual([{ name: 'MikroTik' }]);
    await expect(connect(simulator.apiTlsPort, {})).rejects.toMatchObject({ code: 'router_unreachable' });
  });

  it('without a certificate is used only when the configuration allows it', async () => {
    const simulator = await simulate({ apiTlsPort: 0, version: '6.49.10' });
    const api = await connect(simulator.apiTlsPort, { anonymous: true });
    expect((await api.command(identity, SOON)).rows).toEqual([{ name: 'MikroTik' }]);
    await expect(connect(simulator.apiTlsPort, {})).rejects.toMatchObject({ code: 'router_unreachable' });
  });
});

describe.each([
  ['6.49.10', false],
  ['7.18.2', true],
])('%s, every byte on its own: %s', (version, splitEveryByte) => {
  it('a listener receives additions and removals until it is cancelled', async () => {
    const simulator = await simulate({ version, splitEveryByte });
    const api = await connect(simulator.apiPort);
    const enough = new AbortController();
    const heard: Record<string, string>[] = [];
    const listening = api.listen({ path: '/ip/address/listen', words: [] }, (row) => heard.push(row), enough.signal);
    // The router takes commands in order, so the listener is there when the next one is answered.
    const { ret } = await api.command({ path: '/ip/address/add', words: ['=address=10.7.7.1/24', '=interface=ether2'] }, SOON);
    await api.command({ path: '/ip/address/remove', words: [`=.id=${ret}`] }, SOON);
    await eventually(() => expect(heard.at(-1)).toMatchObject({ '.id': ret, '.dead': 'true' }));
    expect(heard).toContainEqual(expect.objectContaining({ '.id': ret, address: '10.7.7.1/24' }));
    enough.abort();
    await listening;
    // The router has understood the cancel: nothing is sent any more, and the session is well.
    const before = heard.length;
    await api.command({ path: '/ip/address/add', words: ['=address=10.7.8.1/24', '=interface=ether2'] }, SOON);
    expect((await api.command(identity, SOON)).rows).toHaveLength(1);
    expect(heard).toHaveLength(before);
  });

  it('a thousand concurrent commands each get their own answer', { timeout: 2 * ALL_MS }, async () => {
    // Byte by byte on a busy machine: the time is only a bound.
    const simulator = await simulate({ version, splitEveryByte });
    const api = await connect(simulator.apiPort);
    const ask = (n: number) =>
      api.command({ path: '/ip/address/print', words: [`?address=192.168.88.${(n % 2) + 1}/24`] }, { timeoutMs: ALL_MS });
    const replies = await Promise.all(Array.from({ length: 1000 }, (_, n) => ask(n)));
    expect(replies.map(({ rows }) => rows.length)).toEqual(Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? 1 : 0)));
  });

  it('garbage from the router ends the session and fails running commands', async () => {
    const simulator = await simulate({ version, splitEveryByte });
    const api = await connect(simulator.apiPort);
    simulator.faults.deaf = true;
    const pending = expect(api.command(identity, SOON)).rejects.toMatchObject({ code: 'outcome_unknown' });
    simulator.faults.garbage();
    await pending;
    expect(api.alive).toBe(false);
  });

  it('a reboot ends the session and fails running commands', async () => {
    const simulator = await simulate({ version, splitEveryByte });
    const api = await connect(simulator.apiPort);
    simulator.faults.deaf = true;
    const pending = expect(api.command(identity, SOON)).rejects.toMatchObject({ code: 'outcome_unknown' });
    await simulator.reboot();
    await pending;
  });
});

describe('a refused login', () => {
  it.each(['6.42.12', '6.49.10', '7.18.2'])('is reported in the router’s own words, %s', async (version) => {
    const { apiPort } = await simulate({ version });
    const wrong = connectRouterOsApi({ host: '127.0.0.1', port: apiPort, username: 'admin', password: 'wrong', deadline: SOON });
    await expect(wrong).rejects.toMatchObject({
      code: 'router_unreachable',
      message: expect.stringMatching(/login refused: (invalid user|cannot log)/),
    });
  });
});
