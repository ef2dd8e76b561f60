import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../server/platform/http/openapi-types.ts';
import { ApiDescription, isSuccess } from '../harness/api-document.ts';
import { World } from '../harness/world.ts';

let world: World;
let api: ApiDescription;
let plants: ApiDescription;
beforeAll(async () => {
  world = await World.start({ routers: [] });
  api = await ApiDescription.of(world.server.url);
  plants = await ApiDescription.of(world.server.sandboxUrl!);
});
afterAll(async () => world.close());

describe.each([
  { name: 'the API', of: () => api, schemes: { bearer: { type: 'http', scheme: 'bearer' }, session: { type: 'openIdConnect' } } },
  { name: 'the plant demonstration', of: () => plants, schemes: { bearer: { type: 'http', scheme: 'bearer' } } },
])('the OpenAPI document of $name', ({ of, schemes }) => {
  test('is OpenAPI 3.1 under the MIT licence', () => {
    expect(of().document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0', license: { identifier: 'MIT' } } });
  });

  test('has nothing that Redocly would complain of', async () => {
    const source = JSON.stringify(of().document);
    const problems = await lintFromString({ source, config: await createConfig({ extends: ['recommended'] }) });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
  });

  test("is valid under the OpenAPI Initiative's own schema", async () => {
    expect(await new Validator().validate({ ...structuredClone(of().document) })).toEqual({ valid: true });
  });

  test('names every operation once, and sorts it under a heading', () => {
    const ids = of().operations.map(({ operation }) => operation.operationId);
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[a-z][A-Za-z]+$/)));
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of of().operations)
      expect(operation).toMatchObject({ summary: expect.any(String), tags: [expect.any(String)] });
  });

  test('has an example of every body and answer, and each is what its schema says', () => {
    for (const { path, method, operation } of of().operations) {
      const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([type, media]) => ({
        at: ['requestBody', 'content', type],
        type,
        media,
      }));
      const answers = Object.entries(operation.responses).flatMap(([status, { content }]) =>
        Object.entries(content ?? {}).map(([type, media]) => ({ at: ['responses', status, 'content', type], type, media })),
      );
      for (const { at, type, media } of [...bodies, ...answers]) {
        if (!type.endsWith('json')) continue;
        expect(media, `${method} ${path} ${at.join(' ')}`).toHaveProperty('example');
        expect(of().mistakesAt(['paths', path, method, ...at, 'schema'], media.example), `${method} ${path} ${at.join(' ')}`).toEqual([]);
      }
    }
  });

  test('says how callers show who they are', () => {
    expect(of().document).toMatchObject({
      security: Object.keys(schemes).map((name) => ({ [name]: [] })),
      components: { securitySchemes: schemes },
    });
  });
});

test('every operation of the API has every error that its route can answer, all in the one form', () => {
  for (const { path, method, operation } of api.operations) {
    const expected = [
      '401',
      '403',
      '422',
      '429',
      'default',
      ...(operation.requestBody ? ['413', '415'] : []),
      ...(method === 'post' ? ['409'] : []),
    ];
    expect(Object.keys(operation.responses), `${method} ${path}`).toEqual(expect.arrayContaining(expected));
    for (const [status, response] of Object.entries(operation.responses)) {
      if (isSuccess([status, response])) continue;
      if (status === '304') {
        expect([method, response.content]).toEqual(['get', undefined]);
        continue;
      }
      expect(response.content, `${method} ${path} ${status}`).toEqual({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example: expect.anything() },
      });
    }
  }
});

test('every POST and PATCH takes an Idempotency-Key, every list leads on', () => {
  for (const { path, method, operation } of api.operations) {
    const names = api.parametersOf(operation).map(({ name }) => name);
    expect(names.includes('Idempotency-Key'), `${method} ${path}`).toBe(method === 'post' || method === 'patch');
    expect(operation.responses['200']?.headers !== undefined, `${method} ${path}`).toBe(names.includes('cursor'));
  }
});

test('what has a default need not be sent: generated clients leave it out', () => {
  const wanting: string[] = [];
  let defaults = 0;
  const resolve = (schema: JsonSchema): JsonSchema =>
    schema.$ref === undefined ? schema : api.document.components.schemas![schema.$ref.split('/').at(-1)!]!;
  const visit = (schema: JsonSchema, place: string): void => {
    const { properties = {}, required = [], items, anyOf = [], oneOf = [], allOf = [] } = resolve(schema);
    for (const [name, member] of Object.entries(properties)) {
      if (resolve(member).default !== undefined) defaults += 1;
      if (resolve(member).default !== undefined && required.includes(name)) wanting.push(`${place}.${name}`);
      visit(member, `${place}.${name}`);
    }
    for (const part of [...(items ? [items] : []), ...anyOf, ...oneOf, ...allOf]) visit(part, place);
  };
  for (const { method, path, operation } of api.operations) {
    const body = operation.requestBody?.content['application/json']?.schema;
    if (body) visit(body, `${method} ${path}`);
    for (const parameter of api.parametersOf(operation)) {
      if (parameter.schema.default === undefined) continue;
      defaults += 1;
      if (parameter.required === true) wanting.push(`${method} ${path} ?${parameter.name}`);
    }
  }
  expect(wanting).toEqual([]);
  expect(defaults).toBeGreaterThan(5);
});

describe('/docs', () => {
  const get = async (path: string) => {
    const answer = await fetch(`${world.server.url}${path}`);
    return { answer, text: await answer.text() };
  };

  test('the page is there, and its policy lets it reach nothing but this server', async () => {
    const { answer, text } = await get('/docs/');
    expect(answer.status).toBe(200);
    expect(text).toContain('swagger-ui');
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    for (const directive of policy.split(';'))
      expect(directive.trim().split(' ').slice(1)).toEqual(expect.not.arrayContaining([expect.stringMatching(/\*|https?:|\.\w/)]));
  });

  test('no page, style or script of it names another host as something to load', async () => {
    const { text: page } = await get('/docs/');
    const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).toMatch(/^\.\//);
      const { answer, text } = await get(new URL(link, 'http://x/docs/').pathname);
      expect(answer.status, link).toBe(200);
      if (link.endsWith('.css')) expect(text).not.toMatch(/@import|url\(\s*["']?(?:https?:)?\/\//);
    }
    // The bundle would ask an online validator about the document unless told otherwise.
    expect((await get('/docs/static/swagger-initializer.js')).text).toContain('validatorUrl: null');
  });

  test('the page carries the name, the icon and the logo of the product, and no framework’s', async () => {
    const { text: page } = await get('/docs/');
    expect(/<title>(.*)<\/title>/.exec(page)?.[1]).toBe('Signalbox API');
    expect(page).not.toMatch(/swagger ui|favicon-\d+x\d+/i);
    const icon = /<link rel="icon" type="image\/svg\+xml" href="\.([^"]+)"/.exec(page)![1]!;
    const { answer, text } = await get(`/docs${icon}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(text).toContain('<svg');
    const logo = /img\.src = 'data:image\/svg\+xml;base64,([^']+)'/.exec((await get('/docs/static/swagger-initializer.js')).text)![1]!;
    expect(Buffer.from(logo, 'base64').toString()).toContain('>Signalbox</text>');
  });

  test('it shows the same document', async () => {
    expect(JSON.parse((await get('/docs/json')).text)).toEqual(api.document);
  });
});
