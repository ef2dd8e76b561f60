import { execFile } from 'node:child_process';
import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** `npm run notify:live`, which tries real providers before a release, against a stand-in. */

let requests: { path: string; body: string }[];
let status: number;
let server: http.Server;
let origin: string;

beforeEach(async () => {
  requests = [];
  status = 200;
  server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      requests.push({ path: request.url ?? '', body });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"id":"4711"}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => server.close());

function run(variables: Record<string, string>): Promise<{ code: number; stdout: string }> {
  const env = { ...process.env, SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS: 'true', ...variables };
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/notify-live.ts'], { env, timeout: 120_000 }, (error, stdout) => {
      resolve({ code: error ? Number(error.code) : 0, stdout });
    });
  });
}

describe('npm run notify:live', () => {
  test('says which variables it wants when there are none', async () => {
    const { code, stdout } = await run({ LIVE_NTFY_URL: origin });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^slack +not tried: LIVE_SLACK_URL$/m);
    expect(stdout).toMatch(/^ntfy +not tried: LIVE_NTFY_TOPIC$/m);
    expect(requests).toEqual([]);
  });

  test('sends an outage of 812 routers and its end, and says what the provider answered', async () => {
    const { code, stdout } = await run({ LIVE_NTFY_URL: origin, LIVE_NTFY_TOPIC: 'noc' });
    expect(stdout).toMatch(/^ntfy +open +sent/m);
    expect(stdout).toMatch(/^ntfy +resolve +sent/m);
    expect(code).toBe(0);
    expect(requests).toHaveLength(2);
    expect(requests[0]!.body).toContain('812 routers');
  });

  test('tells a refusal with its reason', async () => {
    status = 403;
    const { code, stdout } = await run({ LIVE_GOTIFY_URL: origin, LIVE_GOTIFY_TOKEN: 'wrong' });
    expect(stdout).toMatch(/^gotify +open +(?:config|never): /m);
    expect(stdout).not.toContain('resolve');
    expect(code).toBe(1);
  });
});
