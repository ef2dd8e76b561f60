import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../server/platform/http/openapi-types.ts';
import { ApiDescription } from '../harness/api-document.ts';
import { addUser } from '../harness/identity/sign-in.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { Answer } from '../harness/world.ts';
import { API_KEY, ENDPOINTS, LIMITS, REQUESTS_PER_MINUTE } from './interface/endpoints.ts';
import type { Endpoint } from './interface/endpoints.ts';
import { RECORDS } from './interface/records.ts';
import type { FieldType, Fields, RecordName } from './interface/records.ts';

let world: World;
let api: ApiDescription;
let plants: ApiDescription;
let values: Record<string, string>;
beforeAll(async () => {
  world = await World.start();
  api = await ApiDescription.of(world.server.url);
  plants = await ApiDescription.of(world.server.sandboxUrl!);
  values = await makeRecords();
});
afterAll(async () => world.close());

const documentOf = (endpoint: Endpoint): ApiDescription => (endpoint.isSandbox === true ? plants : api);

/** A body that the endpoint accepts. */
const BODIES: Record<number, Record<string, unknown>> = {
  6: { expire_after_minutes: 10, dst_port: 22, dst_address: '127.0.0.1', allow_from: '127.0.0.1' },
  8: { description: 'd', script: ':put 1', make_backup: false, express_execute: true, needs_acknowledgement: true },
  9: { command: '/ip/address/print', parameters: '' },
  10: { alias: 'Till' },
  12: { id: 1, name: 'Ficus', tag: 'tree' },
};

/** One of everything, so that every endpoint has something to show. @returns the path parameters */
async function makeRecords(): Promise<Record<string, string>> {
  const [router_id] = (await world.routerIds()) as [string];
  const make = async (path: string, body: unknown) =>
    (await world.caller.call<{ id: string; data: { id: string } }>('POST', path, body)).body;
  const forward = await make(`/api/routers/${router_id}/transient-forwarding`, BODIES[6]);
  await make(`/api/asynchronous/${router_id}`, BODIES[8]);
  await makeFault(router_id);
  const group = await make('/api/groups', { name: 'On call' });
  const macAddress = await waitUntil('a device is known', async () => {
    const { body } = await world.caller.call<{ data: { mac_address: string; current_ip: unknown }[] }>('GET', '/arp/devices');
    return body.data.find((device) => device.current_ip !== null)?.mac_address;
  });
  return { router_id, id: forward.id, group: group.id ?? group.data.id, macAddress };
}

async function makeFault(routerId: string): Promise<void> {
  const { faults } = world.simulators[0]!;
  faults.refuseConnections = true;
  faults.resetConnections();
  await waitUntil('the fault is known', async () => {
    const { body } = await world.caller.call<{ data: unknown[] }>('GET', `/api/routers/${routerId}/faults`);
    return body.data.length > 0;
  });
  faults.refuseConnections = false;
  await waitUntil('the router is back', async () => (await world.routerIds())[0]);
}

/** A group's lists name what exists in the team. */
async function bodyOf(endpoint: Endpoint): Promise<Record<string, unknown> | undefined> {
  if (endpoint.number !== 11) return BODIES[endpoint.number];
  const make = async (path: string, body: unknown) => (await world.caller.call<{ data: { id: string } }>('POST', path, body)).body.data.id;
  const suffix = String(performance.now());
  const member = await addUser(world, `ada${suffix}@example.org`, 'viewer');
  const window = { day: 'monday', from: 0, to: 60 };
  return {
    name: 'Night shift',
    schedule_id: await make('/api/schedules', { name: `Nights ${suffix}`, time_zone: 'UTC', windows: [window] }),
    mute: 'schedule-active',
    recipients: [member],
    topics: [await make('/api/topics', { name: `Outages ${suffix}` })],
    sites: [await make('/api/sites', { name: `Depot ${suffix}` })],
    notifiables: [{ id: member, channel: 'whatsapp' }],
  };
}

async function call(endpoint: Endpoint, body: unknown, parameters = values): Promise<Answer<unknown>> {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => parameters[name]!);
  if (endpoint.isSandbox !== true) return world.caller.call<unknown>(endpoint.method, path, body);
  const answer = await fetch(`${world.server.sandboxUrl}${path}`, {
    method: endpoint.method,
    headers: { authorization: `Bearer ${world.caller.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** The records in an answer, however wrapped. */
function recordsOf({ answer: { shape } }: Endpoint, body: unknown): unknown[] {
  if (shape === 'bare') return [body];
  expect(body).toMatchObject({ status: expect.any(String), data: expect.anything() });
  const { data } = body as { data: unknown };
  if (shape === 'wrapped') return [data];
  expect(data).toBeInstanceOf(Array);
  return data as unknown[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Checks a value against a type of the interface; null says that nothing is known. */
function expectValue(value: unknown, type: FieldType, at: string): void {
  expect(value, `${at} is there`).not.toBeUndefined();
  if (value === null) return;
  if (typeof type === 'object') {
    if ('object' in type) expectFields(value, type.object, at);
    else for (const item of value as unknown[]) expectFields(item, type.arrayOf, at);
    return;
  }
  const checks: Record<typeof type, () => void> = {
    string: () => expect(typeof value, at).toBe('string'),
    boolean: () => expect(typeof value, at).toBe('boolean'),
    number: () => expect(typeof value, at).toBe('number'),
    integer: () => expect(Number.isInteger(value), at).toBe(true),
    'date-time': () => expect(value, at).toMatch(DATE_TIME),
    'date-time or null': () => expect(value, at).toMatch(DATE_TIME),
    uuid: () => expect(value, at).toMatch(UUID),
    'array of uuid': () => (value as unknown[]).forEach((item) => expect(item, at).toMatch(UUID)),
  };
  checks[type]();
}

function expectFields(record: unknown, fields: Fields, at: string): void {
  for (const [name, type] of Object.entries(fields)) expectValue((record as Record<string, unknown>)[name], type, `${at}.${name}`);
}

/** The type that a schema of the document states, null left out. */
function typeOf(document: ApiDescription, schema: JsonSchema): { type: string | undefined; schema: JsonSchema } {
  const target = resolve(document, schema);
  const choice = target.anyOf?.find((option) => option.type !== 'null');
  if (choice) return typeOf(document, choice);
  const type = Array.isArray(target.type) ? target.type.find((name) => name !== 'null') : target.type;
  return { type, schema: target };
}

function resolve({ document }: ApiDescription, schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : document.components.schemas![schema.$ref.split('/').at(-1)!]!;
}

function expectSchema(document: ApiDescription, schema: JsonSchema | undefined, wanted: FieldType, at: string): void {
  expect(schema, `${at} is in the document`).toBeDefined();
  const { type, schema: target } = typeOf(document, schema!);
  if (typeof wanted === 'object') {
    const fields = 'object' in wanted ? wanted.object : wanted.arrayOf;
    const holder = 'object' in wanted ? target : resolve(document, target.items!);
    for (const [name, field] of Object.entries(fields)) expectSchema(document, holder.properties?.[name], field, `${at}.${name}`);
  } else if (wanted === 'array of uuid') {
    expect(type, at).toBe('array');
    expect(typeOf(document, target.items!).type, at).toBe('string');
  } else {
    const stated = {
      string: 'string',
      boolean: 'boolean',
      number: 'number',
      integer: 'integer',
      'date-time': 'string',
      'date-time or null': 'string',
      uuid: 'string',
    };
    expect(type, at).toBe(stated[wanted]);
    if (wanted.startsWith('date-time')) expect(target.format, at).toBe('date-time');
  }
}

/** The schema of the records that an endpoint answers. */
function recordSchema(endpoint: Endpoint): JsonSchema {
  const document = documentOf(endpoint);
  const operation = document.find(endpoint.method, endpoint.path)!;
  const whole = resolve(document, operation.responses['200']!.content!['application/json']!.schema!);
  if (endpoint.answer.shape === 'bare') return whole;
  const data = whole.properties!['data']!;
  return resolve(document, endpoint.answer.shape === 'wrapped list' ? data.items! : data);
}

describe.each(ENDPOINTS.map((endpoint) => ({ name: `${endpoint.number}. ${endpoint.method} ${endpoint.path}`, endpoint })))(
  '$name',
  ({ endpoint }) => {
    const fields: Fields = endpoint.answer.record === 'any' ? {} : RECORDS[endpoint.answer.record];

    test('is in the OpenAPI document with its parameters', () => {
      const operation = documentOf(endpoint).find(endpoint.method, endpoint.path);
      expect(operation).toBeDefined();
      const inPath = operation!.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? [];
      expect(inPath).toEqual([...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    });

    test.each(Object.entries(fields))('is documented to answer %s', (name, type) => {
      expectSchema(documentOf(endpoint), recordSchema(endpoint).properties?.[name], type, name);
    });

    test.each(Object.entries(endpoint.body ?? {}))('is documented to take %s', (name, field) => {
      const document = documentOf(endpoint);
      const body = resolve(document, document.find(endpoint.method, endpoint.path)!.requestBody!.content['application/json']!.schema!);
      const schema = body.properties?.[name];
      expectSchema(document, schema, field.type, name);
      if (field.required !== undefined) expect(body.required?.includes(name) === true).toBe(field.required);
      const { schema: target } = typeOf(document, schema!);
      const { min, max, maxLength } = field;
      expect(target).toMatchObject({
        ...(min === undefined ? {} : { minimum: min }),
        ...(max === undefined ? {} : { maximum: max }),
        ...(maxLength === undefined ? {} : { maxLength }),
      });
    });

    test('answers 200 with every field of its record', async () => {
      const { status, body } = await call(endpoint, await bodyOf(endpoint));
      expect(status, JSON.stringify(body)).toBe(200);
      const records = recordsOf(endpoint, body);
      expect(records.length).toBeGreaterThan(0);
      for (const record of records) expectFields(record, fields, endpoint.path);
    });

    test.each(Object.entries(endpoint.body ?? {}).filter(([, { required }]) => required === true))(
      'refuses a body without %s',
      async (name) => {
        const { [name]: _left, ...rest } = (await bodyOf(endpoint))!;
        expect((await call(endpoint, rest)).status).toBe(endpoint.isSandbox === true ? 400 : 422);
      },
    );

    test.each(Object.entries(endpoint.body ?? {}).filter(([, { required }]) => required === false))(
      'takes a body without %s',
      async (name) => {
        const { [name]: _left, ...rest } = (await bodyOf(endpoint))!;
        expect((await call(endpoint, rest)).status).toBe(200);
      },
    );

    test.each(endpoint.uuids ?? [])('answers 404 for another %s', async (name) => {
      const parameters = { ...values, [name]: '01890a5d-ac96-774b-bcce-b302099a8057' };
      const { status, body } = await call(endpoint, await bodyOf(endpoint), parameters);
      expect({ status, body }).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });
  },
);

test('every record of the interface is answered by some endpoint or belongs to one that is', () => {
  const answered = new Set<RecordName | 'any'>([...ENDPOINTS.map(({ answer }) => answer.record), 'notifiable', 'plantError']);
  for (const name of Object.keys(RECORDS)) expect(answered).toContain(name);
});

describe.each(LIMITS)('limit: $limit', ({ endpoint: number, field, inside, outside }) => {
  const endpoint = ENDPOINTS.find((row) => row.number === number)!;
  const send = async (value: unknown) => call(endpoint, { ...BODIES[number], [field]: value });

  test.each(inside.map((value) => ({ value })))('$value is taken', async ({ value }) => {
    const { status, body } = await send(value);
    expect(status, JSON.stringify(body)).toBe(200);
  });

  test.each(outside.map((value) => ({ value })))('$value is refused, naming the field', async ({ value }) => {
    expect(await send(value)).toMatchObject({ status: 422, body: { code: 'invalid', errors: { [field]: [expect.any(String)] } } });
  });
});

test('a forward request with several wrong fields gets one error that names them all', async () => {
  const endpoint = ENDPOINTS.find((row) => row.number === 6)!;
  const body = { expire_after_minutes: 5, dst_port: 0, dst_address: 'printer.lan', allow_from: '203.0.113.0/8' };
  expect(await call(endpoint, body)).toMatchObject({
    status: 422,
    body: {
      errors: {
        expire_after_minutes: [expect.any(String)],
        dst_port: [expect.any(String)],
        dst_address: ['must be an IP address'],
        allow_from: ['the prefix length must be from /24 to /32'],
      },
    },
  });
});

describe('authentication (section 5)', () => {
  test('an API key has the stated form', () => {
    expect(world.caller.apiKey).toMatch(API_KEY);
    expect(world.caller.apiKey.split(':')[1]).toBe(world.caller.teamId);
  });

  test('several keys may exist, each shown once, and a revoked one is refused', async () => {
    const { body } = await world.caller.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', { name: 'second' });
    const { id, api_key: second } = body.data;
    expect(second).toMatch(API_KEY);
    const ask = () => world.caller.call('GET', '/api/routers', undefined, { authorization: `Bearer ${second}` });
    expect((await ask()).status).toBe(200);
    expect(JSON.stringify((await world.caller.call('GET', '/api/api-keys')).body)).not.toContain(second.split(':')[2]);
    await world.caller.call('DELETE', `/api/api-keys/${id}`);
    expect((await ask()).status).toBe(401);
  });

  test.each(ENDPOINTS.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint })))(
    '$name needs a credential',
    async ({ endpoint }) => {
      const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name]!);
      const url = `${endpoint.isSandbox === true ? world.server.sandboxUrl : world.server.url}${path}`;
      expect((await fetch(url, { method: endpoint.method })).status).toBe(401);
      const { token } = await world.server.services.credentials.createServiceToken(`internal ${endpoint.number}`);
      const internal = await fetch(url, { method: endpoint.method, headers: { authorization: `Bearer ${token}` } });
      expect(internal.status).toBe(401);
    },
  );

  test('the content type may be on every request, also where there is no body', async () => {
    const type = { 'content-type': 'application/json' };
    expect((await world.caller.call('GET', '/api/routers', undefined, type)).status).toBe(200);
    const { body } = await world.caller.call<{ id: string }>('POST', `/api/routers/${values['router_id']}/transient-forwarding`, BODIES[6]);
    const forward = `/api/routers/${values['router_id']}/transient-forwarding/${body.id}`;
    expect((await world.caller.call('DELETE', forward, undefined, type)).status).toBe(204);
    expect((await world.caller.call('POST', `/api/synchronous/${values['router_id']}`, undefined, type)).status).toBe(422);
  });

  test('a key reaches only records of its team', async () => {
    const stranger = await world.addTeam('Stranger');
    expect((await stranger.call('GET', '/api/routers')).body).toEqual({ status: 'success', data: [] });
    expect((await stranger.call('GET', `/api/routers/${values['router_id']}/jobs`)).status).toBe(404);
  });
});

describe('errors (section 7)', () => {
  test('a plant that cannot be created is 400 with the error object', async () => {
    const endpoint = ENDPOINTS.find(({ isSandbox }) => isSandbox)!;
    const { status, body } = await call(endpoint, { id: 'one' });
    expect(status).toBe(400);
    expectFields(body, RECORDS.plantError, 'error');
    const schema = plants.find('POST', '/plants')!.responses['400']!.content!['application/json']!.schema!;
    expect(resolve(plants, schema).required).toEqual(['error', 'message']);
  });

  test(`${REQUESTS_PER_MINUTE} requests a minute with one key, and the next is 429`, async () => {
    const strict = await World.start({ routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '60' } });
    try {
      const ask = () => strict.caller.call('GET', '/api/routers');
      const answers = await Promise.all(Array.from({ length: REQUESTS_PER_MINUTE + 1 }, ask));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(REQUESTS_PER_MINUTE);
      const refused = answers.find(({ status }) => status !== 200)!;
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await strict.close();
    }
  });
});
