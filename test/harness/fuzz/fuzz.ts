import fc from 'fast-check';
import { invite } from '../identity/links.ts';
import { addUser } from '../identity/sign-in.ts';
import { ApiDescription } from '../api-document.ts';
import { waitUntil } from '../wait-until.ts';
import { World } from '../world.ts';
import { requestOf } from './arbitraries.ts';
import type { FuzzRequest, Hints } from './arbitraries.ts';

/** What no request may exceed; a command waits for its router as long as it says. */
const LONGEST_ANSWER_MS = 20_000;
/** Documented for the routes that need a router that answers. */
const ALLOWED_5XX = [503, 504];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** A world with one of everything, so that requests get past "no such record". */
export async function startFuzzWorld(): Promise<{ world: World; hints: Hints }> {
  const world = await World.start({ terminal: 'full' });
  const [router_id] = (await world.routerIds()) as [string];
  const make = async (path: string, body: unknown): Promise<string[]> => {
    const { body: made } = await world.caller.call<{ id?: string; data?: { id?: string; job_id?: string } }>('POST', path, body);
    const id = made.id ?? made.data?.id ?? made.data?.job_id;
    return id === undefined ? [] : [id];
  };
  const job = { description: 'd', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true };
  const client = { name: 'Client', kind: 'web', redirect_uris: ['https://app.example.net/'] };
  const window = { day: 'monday', from: 0, to: 60 };
  const topic = await make('/api/topics', { name: 'Topic', events: ['job.*'] });
  const group = await make('/api/groups', { name: 'Group', topics: topic });
  const [job_id] = (await make(`/api/asynchronous/${router_id}`, {
    ...job,
    make_backup: true,
    notify_url: `${world.server.url}/nobody-listens`,
  })) as [string];
  const backup = await backupOf(world, router_id, job_id);
  const ids = {
    router_id: [router_id],
    agent_id: [await enrolAnotherAgent(world)],
    id: await make(`/api/routers/${router_id}/transient-forwarding`, {
      expire_after_minutes: 10,
      dst_port: 22,
      dst_address: '127.0.0.1',
      allow_from: '127.0.0.1',
    }),
    job_id: [job_id],
    terminal_id: await make(`/api/routers/${router_id}/terminals`, { level: 'read', reason: 'a look at the log' }),
    backup_id: [backup],
    other_id: [backup],
    delivery_id: await newest(world, `/api/routers/${router_id}/jobs/${job_id}/deliveries`),
    group,
    group_id: group,
    site_id: await make('/api/sites', { name: 'Site' }),
    topic_id: topic,
    thread_id: await waitUntil('a thread is listed', async () => {
      const ids = await newest(world, '/api/threads');
      return ids.length > 0 ? ids : undefined;
    }),
    schedule_id: await make('/api/schedules', { name: 'Schedule', time_zone: 'UTC', windows: [window] }),
    silence_id: await make('/api/silences', { reason: 'Maintenance', until: new Date(Date.now() + 3_600_000).toISOString() }),
    target_id: await make('/api/notification-targets', {
      name: 'Target',
      channel: 'slack',
      address: { url: 'https://hooks.slack.com/services/T0/B0/x' },
    }),
    member_id: [await addUser(world, 'ada@example.org', 'viewer')],
    invitation_id: [(await invite(world.caller, 'bob@example.org')).id],
    client_id: await make('/api/clients', client),
    backup_schedule_id: await make('/api/backup-schedules', { time: '02:30' }),
    campaign_id: await make('/api/campaigns', { router_ids: [router_id], ...job }),
    // Not the caller's own, which would end everything.
    key_id: await make('/api/api-keys', { name: 'Another', role: 'viewer' }),
    macAddress: await firstDevices(world),
    command: ['/ip/address/print', '/interface/print', '/system/resource/print'],
  };
  const notifiables = ids.member_id.map((id) => ({ id, channel: 'whatsapp' }));
  const groupBody = {
    name: 'Night shift',
    mute: 'never',
    recipients: ids.member_id,
    topics: ids.topic_id,
    sites: ids.site_id,
    notifiables,
  };
  const bodies = {
    createGroup: groupBody,
    updateNotificationGroup: groupBody,
    createCampaign: { router_ids: [router_id], ...job },
    submitJob: job,
    createClient: { ...client, name: 'Another client' },
  };
  return { world, hints: { ids, bodies } };
}

/** The job's backup, once it is stored and compared with what came after. */
async function backupOf(world: World, routerId: string, jobId: string): Promise<string> {
  return waitUntil(
    'its backup is stored',
    async () => {
      const job = await world.caller.call<{ data: { backup: string | null } }>('GET', `/api/routers/${routerId}/jobs/${jobId}`);
      const changes = await world.caller.call('GET', `/api/routers/${routerId}/jobs/${jobId}/changes`);
      return changes.status === 200 ? (job.body.data.backup ?? undefined) : undefined;
    },
    20_000,
  );
}

async function newest(world: World, path: string): Promise<string[]> {
  const { body } = await world.caller.call<{ data: { id: string }[] }>('GET', path);
  return body.data.slice(0, 1).map(({ id }) => id);
}

/** One that never connects: the other, without which nothing works, must not be revoked. */
async function enrolAnotherAgent({ server, caller }: World): Promise<string> {
  const { credentials: auth } = server.services;
  const { token } = await auth.createEnrolToken({ teamId: caller.teamId, siteId: null });
  return (await auth.enrolAgent(token, 'another')).agent_id;
}

async function firstDevices(world: World): Promise<string[]> {
  return waitUntil(
    'devices are known',
    async () => {
      const { body } = await world.caller.call<{ data: { mac_address: string }[] }>('GET', '/arp/devices');
      return body.data.length > 0 ? body.data.map(({ mac_address: mac }) => mac) : undefined;
    },
    20_000,
  );
}

export interface FuzzOptions {
  world: World;
  /** Where the routes are: the API, or the demonstration with its own errors. */
  url: string;
  api: ApiDescription;
  hints: Hints;
  /** Requests of each operation. */
  runs: number;
  seed: number;
  /** Counts the answers of each operation by status. */
  tally: Tally;
}

/** Says how far the requests got: a fuzzer that is always refused shows nothing. */
export class Tally {
  readonly #statuses = new Map<string, Map<number, number>>();

  count(name: string, status: number): void {
    const counts = this.#statuses.get(name) ?? new Map<number, number>();
    this.#statuses.set(name, counts.set(status, (counts.get(status) ?? 0) + 1));
  }

  /** Operations that never succeeded. */
  get neverSucceeded(): string[] {
    return [...this.#statuses].filter(([, counts]) => ![...counts.keys()].some((status) => status < 300)).map(([name]) => name);
  }

  toString(): string {
    const line = ([name, counts]: [string, Map<number, number>]): string =>
      `${name}: ${[...counts].map(([status, count]) => `${status} × ${count}`).join(', ')}`;
    return [...this.#statuses].map(line).join('\n');
  }
}

/**
 * Sends requests made from the document to one operation. Every answer must come in time, be no 5xx that is not
 * documented, have the one error form, and be what the document says of its status.
 */
export async function fuzzOperation(options: FuzzOptions, { path, method }: { path: string; method: string }): Promise<void> {
  const { world, url, api, hints, runs, seed, tally } = options;
  const operation = api.find(method, path)!;
  const property = fc.asyncProperty(requestOf(api.document, path, operation, hints), async (request) => {
    const answer = await send(`${url}${request.path}${request.query}`, world.caller.apiKey, method, request);
    tally.count(operation.operationId!, answer.status);
    const mistakes = judge(api, path, method, answer);
    if (mistakes.length > 0)
      throw new Error(`${method.toUpperCase()} ${path} answered ${answer.status}: ${mistakes.join('; ')}\n${answer.text.slice(0, 500)}`);
  });
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true, interruptAfterTimeLimit: 3_000_000 });
}

/** Everything that is served, where it is served. */
export async function fuzzTargets({ server }: World): Promise<{ url: string; api: ApiDescription }[]> {
  return Promise.all([server.url, server.sandboxUrl!].map(async (url) => ({ url, api: await ApiDescription.of(url) })));
}

export function fuzzedOperations(api: ApiDescription): { name: string; path: string; method: string }[] {
  return (
    api.operations
      // What others need is read and used before it is deleted.
      .sort((a, b) => METHODS.indexOf(a.method) - METHODS.indexOf(b.method))
      .map(({ operation, path, method }) => ({ name: operation.operationId!, path, method }))
  );
}

interface FuzzAnswer {
  status: number;
  type: string | null;
  text: string;
}

async function send(url: string, key: string, method: string, { headers, body }: FuzzRequest): Promise<FuzzAnswer> {
  const answer = await fetch(url, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: body.toWellFormed() }),
    redirect: 'manual',
    signal: AbortSignal.timeout(LONGEST_ANSWER_MS),
  });
  const type = answer.headers.get('content-type');
  if (type !== 'text/event-stream') return { status: answer.status, type, text: await answer.text() };
  // It would never end by itself.
  await answer.body!.cancel();
  return { status: answer.status, type, text: '' };
}

function judge(api: ApiDescription, path: string, method: string, answer: FuzzAnswer): string[] {
  const documented = api.find(method, path)!.responses;
  if (answer.status >= 500 && !(ALLOWED_5XX.includes(answer.status) && String(answer.status) in documented))
    return ['that is not documented'];
  // A path whose parameter was empty or held a dot may be another route, or none.
  if (answer.status === 304) return '304' in documented && answer.text === '' ? [] : ['304 is not documented, or has a body'];
  if (answer.status >= 300) return problemMistakes(api, answer);
  return api.mistakesOf(path, method, answer);
}

/** The one form of the API's errors, or of the demonstration's. */
function problemMistakes(api: ApiDescription, { status, type, text }: FuzzAnswer): string[] {
  const [schema, member] = 'Problem' in api.document.components.schemas! ? ['Problem', 'status'] : ['Error', 'error'];
  const expected = schema === 'Problem' ? 'application/problem+json' : 'application/json';
  if (type?.startsWith(expected) !== true) return [`an error of the type ${type}`];
  const problem = JSON.parse(text) as Record<string, unknown>;
  return [
    ...api.mistakesAt(['components', 'schemas', schema], problem),
    ...(problem[member] === status ? [] : ['another status in the body']),
  ];
}
