import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { onceTold } from '../harness/cluster/once-told.ts';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { addUser, beginFlow, PASSWORD, signIn } from '../harness/identity/sign-in.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import type { OpenedTerminal } from '../harness/terminal-client.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/**
 * A revoked credential keeps nothing open: each kind of credential with each resource that it can open.
 * The first router answers; the second is switched off, so that what is queued for it stays queued.
 */
let world: World;
let database: TestDatabase;
let echo: net.Server;
let online: string;
let offline: string;

async function startWorld(kind: ReturnType<typeof databaseKinds>[number]): Promise<void> {
  database = await kind.create();
  world = await World.start({ routers: [{}, {}], terminal: 'read', databaseUrl: database.url });
  [online, offline] = (await world.routerIds()) as [string, string];
  await world.simulators[1]!.close();
  await waitUntil('the second router is away', async () => {
    const { body } = await world.caller.call<{ data: { has_pulse: boolean } }>('GET', `/api/routers/${offline}`);
    return !body.data.has_pulse;
  });
  echo = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
}

async function closeWorld(): Promise<void> {
  echo.close();
  await world.close();
  await database.remove();
}

interface Holder {
  bearer: string;
  revoke: () => Promise<void>;
}

const ok = ({ status }: { status: number }): void => expect(status).toBeLessThan(300);

async function newKey(role = 'operator'): Promise<{ id: string; api_key: string }> {
  const made = await world.caller.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', { name: 'mallory', role });
  return made.body.data;
}

let people = 0;
async function newMember(role: 'operator' | 'admin' = 'operator'): Promise<{ id: string; email: string }> {
  people += 1;
  const email = `mallory${people}@example.org`;
  return { id: await addUser(world, email, role), email };
}

async function memberWho(change: object): Promise<Holder> {
  const { id, email } = await newMember();
  const { access_token: bearer } = await signIn(world, email);
  return { bearer, revoke: async () => ok(await world.caller.call('PATCH', `/api/members/${id}`, change)) };
}

const NEW_PASSWORD = 'another horse battery';

async function personWhose(change: (email: string, id: string) => Promise<unknown>): Promise<Holder> {
  const { id, email } = await newMember();
  const { access_token: bearer } = await signIn(world, email);
  return { bearer, revoke: async () => void (await change(email, id)) };
}

async function client(revoke: (id: string) => Promise<void>): Promise<Holder> {
  const callback = 'https://tickets.example.net/callback';
  const { email } = await newMember('admin');
  const body = { name: 'Tickets', kind: 'web', role: 'operator', redirect_uris: [callback] };
  const { data } = (await world.caller.call<{ data: { id: string; client_secret: string } }>('POST', '/api/clients', body)).body;
  const flow = await beginFlow(world, { clientId: data.id, secret: data.client_secret, redirectUri: callback });
  const consent = await flow.browser.submit(await flow.browser.open(await flow.url({ prompt: 'consent' })), '/login', {
    email,
    password: PASSWORD,
  });
  const { access_token: bearer } = await flow.tokens((await flow.browser.submit(consent, '/confirm')).url);
  return { bearer, revoke: () => revoke(data.id) };
}

const HOLDERS: Record<string, () => Promise<Holder>> = {
  'an API key that is revoked': async () => {
    const { id, api_key: bearer } = await newKey();
    return { bearer, revoke: async () => ok(await world.caller.call('DELETE', `/api/api-keys/${id}`)) };
  },
  'an API key that is revoked by the command in another process': async () => {
    const { id, api_key: bearer } = await newKey();
    const revoke = async (): Promise<void> => {
      const storage = await openStorage(database.url, { log: silentLog });
      await new CredentialsService({ storage, clock: systemClock, log: silentLog }).revokeApiKey(world.caller.teamId, id);
      await storage.close();
    };
    return { bearer, revoke };
  },
  'a member who is switched off': () => memberWho({ active: false }),
  'a member who becomes a viewer': () => memberWho({ role: 'viewer' }),
  'a person with a new password': () => personWhose((email) => world.server.services.teams.changePassword(email, PASSWORD, NEW_PASSWORD)),
  'a person with a new password by a link': () =>
    personWhose(async (_email, id) => {
      const { code } = await world.server.services.passwordLinks.create(world.caller.teamId, id, { kind: 'operator', id: null });
      await world.server.services.passwordLinks.use(code, NEW_PASSWORD);
    }),
  'a person with a new password by the command in another process': () =>
    personWhose(async (email) => {
      const storage = await openStorage(database.url, { log: silentLog });
      await new TeamsService({ storage, clock: systemClock }).replacePassword(email, NEW_PASSWORD);
      await storage.close();
    }),
  'a client that is deleted': () => client(async (id) => ok(await world.caller.call('DELETE', `/api/clients/${id}`))),
  'a client that becomes a viewer': () =>
    client(async (id) => ok(await world.caller.call('PATCH', `/api/clients/${id}`, { role: 'viewer' }))),
};

const SCRIPT = { description: 'x', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };

/** The resources that one holder has opened, and their state. */
class Opened {
  readonly #bearer: string;
  forward = '';
  webSocket!: WebSocket;
  closeCode: number | undefined;
  stream!: ReadableStreamDefaultReader<Uint8Array>;
  streamEnded = false;
  socket!: net.Socket;
  port = 0;
  job = '';
  campaign = '';
  terminal = '';
  shell!: TerminalClient;

  constructor(bearer: string) {
    this.#bearer = bearer;
  }

  async post<T>(url: string, body: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${this.#bearer}`, 'content-type': 'application/json' };
    const answer = await fetch(`${world.server.url}${url}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    return (await answer.json()) as T;
  }

  async open(): Promise<this> {
    const { port } = echo.address() as net.AddressInfo;
    const request = { expire_after_minutes: 10, dst_port: port, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
    const made = await this.post<{ id: string; port: number }>(`/api/routers/${online}/transient-forwarding`, request);
    this.forward = made.id;
    this.port = made.port;
    await this.#openWebSocket();
    this.socket = net.connect(made.port, '127.0.0.1').on('error', () => undefined);
    this.socket.write('hello');
    await once(this.socket, 'data');
    const events = await fetch(`${world.server.url}/api/events`, { headers: { authorization: `Bearer ${this.#bearer}` } });
    this.stream = events.body!.getReader();
    void this.#drain();
    this.job = (await this.post<{ data: { job_id: string } }>(`/api/asynchronous/${offline}`, SCRIPT)).data.job_id;
    this.campaign = (await this.post<{ data: { id: string } }>('/api/campaigns', { router_ids: [offline], ...SCRIPT })).data.id;
    const wanted = { level: 'read', reason: 'a look' };
    const { data } = await this.post<{ data: OpenedTerminal }>(`/api/routers/${online}/terminals`, wanted);
    this.terminal = data.id;
    this.shell = await TerminalClient.attach(world.server.url, data);
    await this.shell.sees('>');
    return this;
  }

  async #openWebSocket(): Promise<void> {
    const url = `${world.server.url.replace('http', 'ws')}/api/routers/${online}/transient-forwarding/${this.forward}/connect`;
    this.webSocket = new WebSocket(url, 'signalbox.connect.v1', { headers: { authorization: `Bearer ${this.#bearer}` } });
    this.webSocket.on('close', (code) => (this.closeCode = code));
    await once(this.webSocket, 'open');
    this.webSocket.send(Buffer.from('hello'));
    await once(this.webSocket, 'message');
  }

  async #drain(): Promise<void> {
    while (!(await this.stream.read().catch(() => ({ done: true }))).done);
    this.streamEnded = true;
  }

  /** Ends its terminal as well: a router has five at most. */
  async close(): Promise<void> {
    this.shell.ws.terminate();
    this.webSocket.terminate();
    this.socket.destroy();
    void this.stream.cancel().catch(() => undefined);
    ok(await world.caller.call('DELETE', `/api/terminals/${this.terminal}`));
  }
}

const read = async <T>(url: string): Promise<T> => (await world.caller.call<T>('GET', url)).body;
const forwardOf = (id: string) =>
  read<{ closed_at: string | null; revoked_early: boolean }>(`/api/routers/${online}/transient-forwarding/${id}`);
const jobOf = async (id: string) => (await read<{ data: { status: string } }>(`/api/routers/${offline}/jobs/${id}`)).data;
const terminalOf = async (id: string) => (await read<{ data: { status: string; end_reason: string | null } }>(`/api/terminals/${id}`)).data;
const campaignOf = async (id: string) => (await read<{ data: { state: string } }>(`/api/campaigns/${id}`)).data;

/** "Within seconds": a fifth of the former check interval of connections. */
const SOON_MS = 5000;

describe.each(databaseKinds())('on $name', (kind) => {
  beforeAll(() => startWorld(kind));
  afterAll(closeWorld);
  describe.each(Object.entries(HOLDERS))('%s', losesEverything);
  reports();
});

function losesEverything(name: string, make: () => Promise<Holder>): void {
  let opened: Opened;
  let untouched: Opened;
  let revokedAt: number;

  beforeAll(async () => {
    const holder = await make();
    opened = await new Opened(holder.bearer).open();
    untouched = await new Opened((await newKey()).api_key).open();
    await holder.revoke();
    revokedAt = Date.now();
  });
  afterAll(async () => {
    await opened.close();
    await untouched.close();
  });

  const soon = async (what: string, condition: () => Promise<boolean> | boolean): Promise<void> => {
    await waitUntil(what, condition, Math.max(1000, SOON_MS - (Date.now() - revokedAt)));
  };

  test('loses its forwards, with the port and every connection', async () => {
    await soon('the forward is closed', async () => (await forwardOf(opened.forward)).closed_at !== null);
    expect((await forwardOf(opened.forward)).revoked_early).toBe(true);
    await soon('its connection is cut', () => opened.socket.destroyed || opened.socket.readableEnded);
    const again = net.connect(opened.port, '127.0.0.1').on('error', () => undefined);
    await expect(once(again, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('loses its connections through the WebSocket entry', async () => {
    await soon('the WebSocket is closed', () => opened.closeCode !== undefined);
    expect(opened.closeCode).toBe(4403);
  });

  test('loses its terminal', async () => {
    await soon('the shell is cut', () => opened.shell.closed !== undefined);
    await soon('the terminal has ended', async () => (await terminalOf(opened.terminal)).status === 'ended');
    expect(await terminalOf(opened.terminal)).toMatchObject({ end_reason: 'rights_lost' });
  });

  test('loses its event stream unless its role still allows one', async () => {
    if (name.includes('viewer')) expect(opened.streamEnded).toBe(false);
    else await soon('the stream ends', () => opened.streamEnded);
  });

  test('loses its jobs that have not started', () =>
    soon('the job is canceled', async () => (await jobOf(opened.job)).status === 'deleted'));

  test('loses its campaigns', () => soon('the campaign is canceled', async () => (await campaignOf(opened.campaign)).state === 'canceled'));

  test('leaves the resources of others alone', async () => {
    expect(await forwardOf(untouched.forward)).toMatchObject({ closed_at: null });
    expect(untouched.socket.destroyed).toBe(false);
    expect([untouched.closeCode, untouched.streamEnded]).toEqual([undefined, false]);
    expect(await jobOf(untouched.job)).toMatchObject({ status: 'pending' });
    expect(await campaignOf(untouched.campaign)).toMatchObject({ state: 'running' });
    expect(await terminalOf(untouched.terminal)).toMatchObject({ status: 'open' });
    expect(untouched.shell.closed).toBeUndefined();
  });
}

interface Listed {
  subject_id: string;
  kind: string;
  settled: boolean;
  ended: Record<string, { count: number; ids: string[] }>;
  goes_on: Record<string, { count: number; ids: string[] }>;
}

function reports(): void {
  const revocationOf = async (id: string) => (await read<{ data: Listed[] }>('/api/revocations')).data.find((one) => one.subject_id === id);

  const passesOf = async (id: string): Promise<number> => {
    const storage = await openStorage(database.url, { log: silentLog });
    const row = await storage.db.selectFrom('revocations').select('passes').where('subject_id', '=', id).executeTakeFirst();
    await storage.close();
    return row?.passes ?? 0;
  };

  test('the administrator sees what ended and what continues, and another team sees nothing of it', async () => {
    const key = await newKey('admin');
    const opened = await new Opened(key.api_key).open();
    const { data: made } = await opened.post<{ data: { id: string } }>('/api/api-keys', { name: 'made by it' });
    ok(await world.caller.call('DELETE', `/api/api-keys/${key.id}`));
    await opened.close();
    await onceTold(async () => {
      const report = (await revocationOf(key.id))!;
      expect(report).toMatchObject({
        kind: 'api_key',
        settled: false,
        ended: {
          forwards: { ids: [opened.forward] },
          campaigns: { ids: [opened.campaign] },
          terminals: { count: 1, ids: [opened.terminal] },
          api_keys: { count: 0 },
        },
      });
      expect(report.ended['jobs']!.ids).toContain(opened.job);
      expect(report.goes_on).toEqual({ jobs: { count: 0, ids: [] }, api_keys: { count: 1, ids: [made.id] } });
    });
    const other = await world.addTeam(`Other ${key.id}`);
    expect((await other.call<{ data: unknown[] }>('GET', '/api/revocations')).body.data).toEqual([]);
  });

  test('keys created with a key are revoked with it on request, together with what they opened', async () => {
    const key = await newKey('admin');
    const { data: made } = await new Opened(key.api_key).post<{ data: { id: string; api_key: string } }>('/api/api-keys', {
      name: 'made by it',
    });
    const opened = await new Opened(made.api_key).open();
    ok(await world.caller.call('DELETE', `/api/api-keys/${key.id}?revoke_keys=true`));
    expect((await revocationOf(key.id))!.ended['api_keys']).toEqual({ count: 1, ids: [made.id] });
    await waitUntil('what it opened has ended', async () => (await forwardOf(opened.forward)).closed_at !== null);
    await opened.close();
  });

  test('what a running request opens after the revocation ends too', async () => {
    const key = await newKey();
    ok(await world.caller.call('DELETE', `/api/api-keys/${key.id}`));
    // As a request does that was let in before.
    const { jobs } = world.server.services;
    const job = {
      description: 'x',
      script: ':put 1',
      makeBackup: false,
      expressExecute: false,
      needsAcknowledgement: true,
      notifyUrl: undefined,
      timeoutSeconds: undefined,
      deliverWithinMinutes: undefined,
    };
    const { id } = await jobs.createJob(world.caller.teamId, offline, job, {
      requestId: 'r',
      idempotencyKey: 'late',
      keyGiven: false,
      createdBy: key.id,
    });
    await waitUntil('the job is canceled', async () => (await jobOf(id)).status === 'deleted');
  });

  test('after a password change, new resources stay; keep_opened also keeps earlier ones, but no session', async () => {
    const { id, email } = await newMember('admin');
    const before = await signIn(world, email);
    const opened = await new Opened(before.access_token).open();
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD, keep_opened: true };
    const headers = { authorization: `Bearer ${before.access_token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${world.server.url}/api/me/password`, { method: 'POST', headers, body: JSON.stringify(change) });
    expect([answer.status, await revocationOf(id)]).toEqual([204, undefined]);
    expect((await fetch(`${world.server.url}/api/me`, { headers })).status).toBe(401);
    expect(await forwardOf(opened.forward)).toMatchObject({ closed_at: null });
    await world.server.services.teams.changePassword(email, NEW_PASSWORD, PASSWORD);
    const changedAt = Date.now();
    await waitUntil('what was open ends', async () => (await forwardOf(opened.forward)).closed_at !== null);
    await opened.close();
    await waitUntil('a request from before would be over', () => Date.now() > changedAt + 1500);
    const again = await new Opened((await signIn(world, email)).access_token).open();
    await waitUntil('it was looked again', async () => (await passesOf(id)) >= 2);
    expect(await forwardOf(again.forward)).toMatchObject({ closed_at: null });
    expect(await jobOf(again.job)).toMatchObject({ status: 'pending' });
    await again.close();
  });

  test('a user with a reduced role that still operates routers keeps their resources', async () => {
    const { id, email } = await newMember('admin');
    const { access_token: bearer } = await signIn(world, email);
    const opened = await new Opened(bearer).open();
    ok(await world.caller.call('PATCH', `/api/members/${id}`, { role: 'operator' }));
    await world.server.services.revocations.enforce(world.caller.teamId);
    expect(await forwardOf(opened.forward)).toMatchObject({ closed_at: null });
    expect(await jobOf(opened.job)).toMatchObject({ status: 'pending' });
    expect(opened.streamEnded).toBe(false);
    await opened.close();
  });
}
