import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createSelfSigned } from '../simulator/certificate.ts';
import { freePort } from '../harness/installation.ts';
import { signAsTwilio } from '../harness/notify/callbacks.ts';
import { ReverseProxy, TRUSTED, isProxyMissing } from '../harness/reverse-proxy.ts';
import type { ProxyPlace } from '../harness/reverse-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** The recipes of docs/reverse-proxy.md, run by the programs that they are for. Only addresses and certificate files are changed. */

/** Where the test's clients come from; the proxy itself connects from 127.0.0.1. */
const CLIENT = '127.0.0.9';
/** Of an account for text messages. */
const SMS_TOKEN = 'the token of the account';

describe.each(['nginx', 'caddy'] as const)('behind %s with the documented configuration', (program) => {
  const isMissing = isProxyMissing(program);
  let world: World;
  let proxy: ReverseProxy;
  let place: ProxyPlace;
  let marks = 0;

  beforeAll(async () => {
    if (isMissing) return;
    const [folder, port] = [await mkdtemp(path.join(os.tmpdir(), 'signalbox-proxy-')), await freePort()];
    const tokenFile = path.join(folder, 'token');
    await writeFile(tokenFile, SMS_TOKEN);
    world = await World.start({
      routers: [],
      server: {
        SIGNALBOX_TRUST_PROXY: TRUSTED,
        SIGNALBOX_PUBLIC_URL: `https://localhost:${port}`,
        SIGNALBOX_SMS_ACCOUNT: 'AC0123456789',
        SIGNALBOX_SMS_TOKEN_FILE: tokenFile,
        SIGNALBOX_SMS_FROM: '+15550100123',
      },
    });
    place = { folder, port, upstream: world.server.url };
    const { cert, key } = await createSelfSigned('localhost');
    await writeFile(path.join(place.folder, 'fullchain.pem'), cert);
    await writeFile(path.join(place.folder, 'privkey.pem'), key);
    proxy = await ReverseProxy.start(program, place, async () => (await ask('GET', '/healthz')).status === 200);
  });
  afterAll(async () => {
    if (isMissing) return;
    await proxy.close();
    await world.close();
    await rm(place.folder, { recursive: true, force: true });
  });

  async function ask(method: string, url: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
    const request = https.request({
      method,
      path: url,
      host: '127.0.0.1',
      port: place.port,
      servername: 'localhost',
      localAddress: CLIENT,
      rejectUnauthorized: false,
      agent: false,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${world.caller.apiKey}`,
        'x-forwarded-for': '203.0.113.66',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
    });
    request.end(body && JSON.stringify(body));
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return { status: answer.statusCode!, body: JSON.parse((await buffer(answer)).toString()) as Record<string, unknown> };
  }

  test.skipIf(isMissing)('a provider of text messages is heard, which signs for the public address', async () => {
    const said = { MessageSid: 'SM1', MessageStatus: 'delivered' };
    const post = async (signedFor: string): Promise<number | undefined> => {
      const request = https.request({
        method: 'POST',
        path: '/callbacks/sms',
        host: '127.0.0.1',
        port: place.port,
        servername: 'localhost',
        rejectUnauthorized: false,
        agent: false,
        headers: {
          host: `localhost:${place.port}`,
          'content-type': 'application/x-www-form-urlencoded',
          'x-twilio-signature': signAsTwilio(SMS_TOKEN, `${signedFor}/callbacks/sms`, said),
        },
      });
      request.end(new URLSearchParams(said).toString());
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    expect(await post(`https://localhost:${place.port}`)).toBe(204);
    expect(await post(place.upstream)).toBe(403);
  });

  test.skipIf(isMissing)('the audit log has the client’s real address, not the claimed one', async () => {
    expect((await ask('POST', '/api/api-keys', { name: `through ${program}` })).status).toBe(200);
    const entry = await waitUntil('it is in the audit log', async () => {
      const { body } = await ask('GET', '/api/audit');
      return (body['data'] as { action: string; source: string }[]).find(({ action }) => action === 'POST /api/api-keys');
    });
    expect(entry.source).toBe(CLIENT);
    expect(world.server.services.ignoredForwarding.count).toBe(0);
  });

  /** Where the writes in the audit log came from. */
  async function sources(): Promise<Set<string>> {
    marks += 1;
    expect((await ask('POST', '/api/sites', { name: `mark ${marks}` })).status).toBe(200);
    return waitUntil('the mark is in the audit log', async () => {
      const { body } = await ask('GET', '/api/audit?limit=100');
      const entries = body['data'] as { action: string; source: string; result: number }[];
      return entries.filter(({ action, result }) => action === 'POST /api/sites' && result === 200).length >= marks
        ? new Set(entries.map(({ source }) => source))
        : undefined;
    });
  }

  /** Sends these bytes, and waits until nothing more is said. */
  async function say(text: string): Promise<string> {
    const socket = tls.connect({
      socket: net.connect({ port: place.port, host: '127.0.0.1', localAddress: CLIENT }),
      servername: 'localhost',
      rejectUnauthorized: false,
    });
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('error', () => undefined).write(text.replaceAll('KEY', world.caller.apiKey));
    socket.setTimeout(700, () => socket.destroy());
    await new Promise((resolve) => socket.once('close', resolve));
    return answer;
  }

  test.skipIf(isMissing)('a request hidden in a body runs only in the form that the proxy has seen', async () => {
    const inner =
      'POST /api/sites HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\nX-Forwarded-For: 203.0.113.66\r\nContent-Length: 19\r\n\r\n{"name":"smuggled"}';
    const outer = (...headers: string[]): string => ['POST /api/topics HTTP/1.1', 'Host: localhost', ...headers, '', ''].join('\r\n');
    const { length } = inner.replaceAll('KEY', world.caller.apiKey);
    const shapes = [
      outer('Content-Length: 5', 'Transfer-Encoding: chunked') + `0\r\n\r\n${inner}`,
      outer(`Content-Length: ${length + 5}`, 'Transfer-Encoding: chunked') + `0\r\n\r\n${inner}`,
      outer(`Content-Length: ${length + 5}`, 'Transfer-Encoding: xchunked') + `0\r\n\r\n${inner}`,
      outer(`Content-Length: ${length + 5}`, 'Transfer-Encoding:\tchunked') + `0\r\n\r\n${inner}`,
      outer(`Content-Length: ${length}`, 'Content-Length: 0') + inner,
      outer(`Content-Length: ${length}`, 'Connection: upgrade', 'Upgrade: h2c') + inner,
      outer(
        `Content-Length: ${length}`,
        'Connection: upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ) + inner,
      outer(`Content-Length: ${length}`, 'Expect: 100-continue') + inner,
      outer(`Content-Length: ${length}`, 'Connection: Content-Length') + inner,
      outer(`Content-Length: ${length}`, 'Connection: X-Forwarded-For, Authorization, Upgrade') + inner,
    ];
    // One connection to the server may serve several clients of the proxy.
    for (const shape of shapes) {
      await say(shape);
      expect((await ask('GET', '/healthz')).body).toMatchObject({ status: 'ok' });
    }
    // Caddy reads chunks where a length is given as well, and so sees two requests: with the client's address, as always.
    expect(await sources()).toEqual(new Set([CLIENT]));
  });

  test.skipIf(isMissing)('a client cannot choose its address with any header', async () => {
    const names = [
      'X-Forwarded-For: 203.0.113.66\r\nX-Forwarded-For: 203.0.113.67',
      'X_Forwarded_For: 203.0.113.66',
      'Forwarded: for=203.0.113.66',
      'X-Real-IP: 203.0.113.66',
      'Connection: close, X-Forwarded-For',
    ];
    for (const [at, name] of names.entries()) {
      const body = `{"name":"spoofed ${at}"}`;
      const head = [
        'POST /api/topics HTTP/1.1',
        'Host: localhost',
        'Authorization: Bearer KEY',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        name,
        '',
        body,
      ];
      await say(head.join('\r\n'));
    }
    expect(await sources()).toEqual(new Set([CLIENT]));
  });

  test.skipIf(isMissing)('an agent’s WebSocket is forwarded', async () => {
    const { token } = await world.server.services.credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
    const { agent_id: agentId, secret } = await world.server.services.credentials.enrolAgent(token, 'behind a proxy');
    const socket = new WebSocket(`wss://localhost:${place.port}/agent/v1/tunnel`, 'signalbox.v1', {
      headers: { authorization: `Bearer ${agentId}:${secret}` },
      rejectUnauthorized: false,
    });
    await once(socket, 'open');
    expect(socket.protocol).toBe('signalbox.v1');
    socket.terminate();
  });
});

test('a proxy that is not trusted is reported in the status and the metrics', async () => {
  const world = await World.start({ routers: [] });
  try {
    const { token } = await world.server.services.credentials.createServiceToken('prometheus');
    const internal = (what: string) => fetch(`${world.server.url}/internal/${what}`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await internal('status')).json()).toMatchObject({ data: { ignored_forwarding: 0, warnings: [] } });
    await fetch(`${world.server.url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect(await (await internal('status')).json()).toMatchObject({
      data: { ignored_forwarding: 1, warnings: [expect.stringContaining('name it in SIGNALBOX_TRUST_PROXY')] },
    });
    expect(await (await internal('metrics')).text()).toContain('signalbox_ignored_forwarding 1');
  } finally {
    await world.close();
  }
});
