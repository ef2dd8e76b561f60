import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkConfig, loadConfig } from '../../server/config.ts';
import { configurationWarnings } from '../../server/config-warnings.ts';
import { AppError } from '../../server/platform/core/errors.ts';

/** Every mistake that these values have, by name. */
function mistakesOf(values: Record<string, string>): Record<string, string[]> {
  try {
    checkConfig(values);
    return {};
  } catch (error) {
    return (error as AppError).errors ?? {};
  }
}

async function configFile(text: string): Promise<{ file: string; folder: string }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'signalbox.yaml');
  await writeFile(file, text);
  return { file, folder };
}

test('without any setting it is a control plane for this machine', () => {
  expect(checkConfig({})).toEqual({
    listen: { host: '127.0.0.1', port: 8080 },
    publicUrl: 'http://127.0.0.1:8080',
    sandboxListen: { host: '127.0.0.1', port: 8081 },
    databaseUrl: 'sqlite:./data/signalbox.db',
    cluster: null,
    forwards: {
      host: '127.0.0.1',
      listen: '127.0.0.1',
      ports: { first: 20_000, last: 60_000 },
      names: null,
      proxies: [],
      idleSeconds: null,
    },
    secretKeyFile: './data/secret.key',
    rateLimitPerMinute: 60,
    allowPrivateSources: false,
    allowLoopbackWebhooks: false,
    trustProxy: false,
    tls: null,
    upstream: null,
    corsOrigins: [],
    catalog: { file: undefined, imagesUrl: undefined },
    maxRoutersPerTeam: 20_000,
    keepJobsMs: 400 * 24 * 3600_000,
    keepAuditMs: 400 * 24 * 3600_000,
    keepBackupsMs: 180 * 24 * 3600_000,
    keepCampaignsMs: 400 * 24 * 3600_000,
    keepConnectionsMs: 30 * 24 * 3600_000,
    keepDeliveriesMs: 30 * 24 * 3600_000,
    keepDevicesMs: 182 * 24 * 3600_000,
    keepFaultsMs: 400 * 24 * 3600_000,
    keepForwardsMs: 400 * 24 * 3600_000,
    keepTerminalsMs: 400 * 24 * 3600_000,
    keepHistoryMs: 400 * 24 * 3600_000,
    keepRecordingsMs: 90 * 24 * 3600_000,
    keepNotificationsMs: 30 * 24 * 3600_000,
    smtp: null,
    channels: { sms: null, telegram: null, whatsapp: null },
    notifyPrivate: [],
    heartbeatUrl: null,
    keepSteps: { fineMs: 30 * 24 * 3600_000, hourlyMs: 366 * 24 * 3600_000 },
    heartbeatMs: 30_000,
    offlineAfterMs: 75_000,
    routerMoves: { free: false, afterMs: 600_000 },
    logLevel: 'info',
  });
});

test('it is frozen, all the way down', () => {
  const config = checkConfig({});
  expect([config, config.listen, config.forwards, config.forwards.ports].every(Object.isFrozen)).toBe(true);
});

test.each([
  ['SIGNALBOX_LISTEN', '[::1]:0', { listen: { host: '::1', port: 0 }, publicUrl: 'http://[::1]:0' }],
  ['SIGNALBOX_PUBLIC_URL', 'https://box.example.net/', { publicUrl: 'https://box.example.net' }],
  ['SIGNALBOX_SANDBOX_LISTEN', '', { sandboxListen: null }],
  ['SIGNALBOX_DATABASE_URL', 'postgres://u:p@db/signalbox', { databaseUrl: 'postgres://u:p@db/signalbox' }],
  ['SIGNALBOX_RATE_LIMIT_PER_MINUTE', '100000', { rateLimitPerMinute: 100_000 }],
  ['SIGNALBOX_ALLOW_PRIVATE_SOURCES', 'ON', { allowPrivateSources: true }],
  ['SIGNALBOX_ALLOW_LOOPBACK_WEBHOOKS', 'true', { allowLoopbackWebhooks: true }],
  ['SIGNALBOX_TRUST_PROXY', '10.0.0.1, 192.168.0.0/16', { trustProxy: ['10.0.0.1', '192.168.0.0/16'] }],
  ['SIGNALBOX_TRUST_PROXY', 'on', { trustProxy: true }],
  ['SIGNALBOX_FORWARD_PROXIES', '10.0.0.1,2001:db8::/64', { forwards: { proxies: ['10.0.0.1', '2001:db8::/64'] } }],
  ['SIGNALBOX_FORWARD_IDLE_SECONDS', '900', { forwards: { idleSeconds: 900 } }],
  ['SIGNALBOX_HISTORY_RETENTION_DAYS', '30', { keepHistoryMs: 30 * 24 * 3600_000 }],
  ['SIGNALBOX_FINE_STEPS_RETENTION_DAYS', '7', { keepSteps: { fineMs: 7 * 24 * 3600_000, hourlyMs: 366 * 24 * 3600_000 } }],
  ['SIGNALBOX_HOURLY_STEPS_RETENTION_DAYS', '90', { keepSteps: { fineMs: 30 * 24 * 3600_000, hourlyMs: 90 * 24 * 3600_000 } }],
  ['SIGNALBOX_JOB_RETENTION_DAYS', '30', { keepJobsMs: 30 * 24 * 3600_000 }],
  ['SIGNALBOX_HEARTBEAT_SECONDS', '5', { heartbeatMs: 5000 }],
  ['SIGNALBOX_LOG_LEVEL', 'debug', { logLevel: 'debug' }],
])('%s=%s', (name, value, expected) => {
  expect(checkConfig({ [name]: value })).toMatchObject(expected);
});

test.each([
  ['SIGNALBOX_LISTEN', '8080'],
  ['SIGNALBOX_LISTEN', '127.0.0.1:65536'],
  ['SIGNALBOX_LISTEN', '::1:80'],
  ['SIGNALBOX_PUBLIC_URL', 'box.example.net'],
  ['SIGNALBOX_PUBLIC_URL', 'ftp://box.example.net'],
  ['SIGNALBOX_SANDBOX_LISTEN', 'off'],
  ['SIGNALBOX_DATABASE_URL', 'mysql://u:secret@db'],
  ['SIGNALBOX_DATABASE_URL', 'sqlite:'],
  ['SIGNALBOX_FORWARD_LISTEN', 'eth0'],
  ['SIGNALBOX_FORWARD_HOST', 'https://box'],
  ['SIGNALBOX_FORWARD_PORTS', '60000-20000'],
  ['SIGNALBOX_FORWARD_PORTS', '0-10'],
  ['SIGNALBOX_FORWARD_PROXIES', 'on'],
  ['SIGNALBOX_FORWARD_PROXIES', '10.0.0.0/33'],
  ['SIGNALBOX_FORWARD_IDLE_SECONDS', '86401'],
  ['SIGNALBOX_HISTORY_RETENTION_DAYS', '1'],
  ['SIGNALBOX_FINE_STEPS_RETENTION_DAYS', '1'],
  ['SIGNALBOX_HOURLY_STEPS_RETENTION_DAYS', '3651'],
  ['SIGNALBOX_JOB_RETENTION_DAYS', '6'],
  ['SIGNALBOX_BACKUP_RETENTION_DAYS', '14'],
  ['SIGNALBOX_NOTIFICATION_RETENTION_DAYS', '2'],
  ['SIGNALBOX_JOB_RETENTION_DAYS', 'off'],
  ['SIGNALBOX_RATE_LIMIT_PER_MINUTE', '0'],
  ['SIGNALBOX_RATE_LIMIT_PER_MINUTE', '1e3'],
  ['SIGNALBOX_ALLOW_PRIVATE_SOURCES', 'maybe'],
  ['SIGNALBOX_TRUST_PROXY', 'proxy.example.net'],
  ['SIGNALBOX_TLS_CERT_FILE', 'cert.pem', 'SIGNALBOX_TLS_KEY_FILE'],
  ['SIGNALBOX_TLS_KEY_FILE', 'key.pem', 'SIGNALBOX_TLS_CERT_FILE'],
  ['SIGNALBOX_HEARTBEAT_SECONDS', '80', 'SIGNALBOX_OFFLINE_AFTER_SECONDS'],
  ['SIGNALBOX_LISTEN', '0.0.0.0:8080', 'SIGNALBOX_PUBLIC_URL'],
  ['SIGNALBOX_HEARTBEAT_URL', 'http://hc-ping.com/0b5e'],
  ['SIGNALBOX_LOG_LEVEL', 'loud'],
  ['SIGNALBOX_LISTENS', '127.0.0.1:8080'],
])('%s=%s is a mistake', (name, value, named = name) => {
  expect(Object.keys(mistakesOf({ [name]: value }))).toEqual([named]);
});

test('the heartbeat may use http in the networks of the operator', () => {
  const url = 'http://10.1.2.3/ping';
  expect(checkConfig({ SIGNALBOX_HEARTBEAT_URL: url, SIGNALBOX_NOTIFY_PRIVATE: '10.0.0.0/8' }).heartbeatUrl).toBe(url);
  expect(Object.keys(mistakesOf({ SIGNALBOX_HEARTBEAT_URL: url, SIGNALBOX_NOTIFY_PRIVATE: '192.168.0.0/16' }))).toEqual([
    'SIGNALBOX_HEARTBEAT_URL',
  ]);
});

test('an outside identity provider is set up whole or not at all', () => {
  const issuer = 'https://login.example.net/realms/ops/';
  const whole = {
    SIGNALBOX_UPSTREAM_ISSUER: issuer,
    SIGNALBOX_UPSTREAM_CLIENT_ID: 'signalbox',
    SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE: '/run/secret',
  };
  expect(checkConfig(whole).upstream).toEqual({ issuer, clientId: 'signalbox', secretFile: '/run/secret', name: 'login.example.net' });
  expect(checkConfig({ ...whole, SIGNALBOX_UPSTREAM_NAME: 'Example' }).upstream).toMatchObject({ name: 'Example' });
  expect(Object.keys(mistakesOf({ SIGNALBOX_UPSTREAM_ISSUER: issuer })).toSorted()).toEqual([
    'SIGNALBOX_UPSTREAM_CLIENT_ID',
    'SIGNALBOX_UPSTREAM_CLIENT_SECRET_FILE',
  ]);
  for (const wrong of ['http://login.example.net', 'https://login.example.net?x=1', 'login.example.net']) {
    expect(Object.keys(mistakesOf({ ...whole, SIGNALBOX_UPSTREAM_ISSUER: wrong }))).toEqual(['SIGNALBOX_UPSTREAM_ISSUER']);
  }
});

test('the door by name has a domain and an address, and perhaps another port for those outside', () => {
  const listen = '0.0.0.0:8443';
  const names = (domain: string): unknown =>
    checkConfig({ SIGNALBOX_FORWARD_DOMAIN: domain, SIGNALBOX_FORWARD_NAME_LISTEN: listen }).forwards.names;
  expect(names('Forward.example.net')).toEqual({
    domain: 'forward.example.net',
    publicPort: undefined,
    listen: { host: '0.0.0.0', port: 8443 },
  });
  expect(names('forward.example.net:443')).toMatchObject({ domain: 'forward.example.net', publicPort: 443 });
  expect(Object.keys(mistakesOf({ SIGNALBOX_FORWARD_DOMAIN: 'forward.example.net' }))).toEqual(['SIGNALBOX_FORWARD_NAME_LISTEN']);
  expect(Object.keys(mistakesOf({ SIGNALBOX_FORWARD_NAME_LISTEN: listen }))).toEqual(['SIGNALBOX_FORWARD_DOMAIN']);
  for (const wrong of [
    'https://forward',
    '.example.net',
    'example.net.',
    'a b',
    '*.example.net',
    'example.net:0',
    'example.net:65536',
    `${'a'.repeat(64)}.net`,
    'ab.'.repeat(80) + 'net',
  ]) {
    expect(Object.keys(mistakesOf({ SIGNALBOX_FORWARD_DOMAIN: wrong, SIGNALBOX_FORWARD_NAME_LISTEN: listen })), wrong).toEqual([
      'SIGNALBOX_FORWARD_DOMAIN',
    ]);
  }
});

test('every mistake is named at once, and no value is repeated', () => {
  const values = {
    SIGNALBOX_LISTEN: 'secret-1',
    SIGNALBOX_DATABASE_URL: 'mysql://secret-2',
    SIGNALBOX_TYPO: 'secret-3',
    SIGNALBOX_TLS_KEY_FILE: 'secret-4',
  };
  expect(Object.keys(mistakesOf(values)).sort()).toEqual([
    'SIGNALBOX_DATABASE_URL',
    'SIGNALBOX_LISTEN',
    'SIGNALBOX_TLS_CERT_FILE',
    'SIGNALBOX_TYPO',
  ]);
  expect(() => checkConfig(values)).toThrow(expect.not.stringContaining('secret') as string);
});

test('TLS makes the public address https', () => {
  const files = { SIGNALBOX_TLS_CERT_FILE: 'cert.pem', SIGNALBOX_TLS_KEY_FILE: 'key.pem' };
  expect(checkConfig(files)).toMatchObject({ publicUrl: 'https://127.0.0.1:8080', tls: { certFile: 'cert.pem', keyFile: 'key.pem' } });
});

test('a YAML file has the same names; the environment wins, empty values there do not count', async () => {
  const { file, folder } = await configFile(
    [
      'SIGNALBOX_LISTEN: 127.0.0.1:9000',
      'SIGNALBOX_RATE_LIMIT_PER_MINUTE: 120',
      'SIGNALBOX_ALLOW_PRIVATE_SOURCES: true',
      'SIGNALBOX_SANDBOX_LISTEN:',
      'SIGNALBOX_DATABASE_URL: sqlite:box.db',
      'SIGNALBOX_SECRET_KEY_FILE: keys/secret',
    ].join('\n'),
  );
  const env = { SIGNALBOX_CONFIG: file, SIGNALBOX_LISTEN: '127.0.0.1:9001', SIGNALBOX_RATE_LIMIT_PER_MINUTE: '', PATH: '/bin' };
  expect(await loadConfig(env)).toMatchObject({
    listen: { port: 9001 },
    rateLimitPerMinute: 120,
    allowPrivateSources: true,
    sandboxListen: null,
    databaseUrl: `sqlite:${path.join(folder, 'box.db')}`,
    secretKeyFile: path.join(folder, 'keys/secret'),
  });
});

test.each(['- a list', 'SIGNALBOX_LISTEN: [1, 2]', 'a: b: c'])('a file that holds %j is a mistake that names the file', async (text) => {
  const { file } = await configFile(text);
  await expect(loadConfig({ SIGNALBOX_CONFIG: file })).rejects.toMatchObject({
    code: 'invalid',
    errors: { SIGNALBOX_CONFIG: [expect.stringContaining(file) as string] },
  });
});

test('a file that is missing is a mistake that names the file', async () => {
  await expect(loadConfig({ SIGNALBOX_CONFIG: '/no/such/file.yaml' })).rejects.toThrow('/no/such/file.yaml');
});

test('a proxy that must be there and is not trusted is doubted, and one that anybody can pretend to be', () => {
  const outside = { SIGNALBOX_PUBLIC_URL: 'https://box.example.net', SIGNALBOX_FORWARD_LISTEN: '0.0.0.0' };
  expect(configurationWarnings(checkConfig(outside))).toEqual([expect.stringContaining('set its address in SIGNALBOX_TRUST_PROXY')]);
  expect(configurationWarnings(checkConfig({ ...outside, SIGNALBOX_TRUST_PROXY: '127.0.0.1' }))).toEqual([]);
  expect(configurationWarnings(checkConfig({ ...outside, SIGNALBOX_TRUST_PROXY: 'on' }))).toEqual([]);
  expect(configurationWarnings(checkConfig({ ...outside, SIGNALBOX_TLS_CERT_FILE: 'c', SIGNALBOX_TLS_KEY_FILE: 'k' }))).toEqual([]);
  expect(configurationWarnings(checkConfig({ ...outside, SIGNALBOX_LISTEN: '0.0.0.0:8080', SIGNALBOX_TRUST_PROXY: 'on' }))).toEqual([
    expect.stringContaining('a client that connects directly can claim any address'),
  ]);
});

test('entries that no outside client can reach give a warning', () => {
  expect(configurationWarnings(checkConfig({}))).toEqual([]);
  expect(configurationWarnings(checkConfig({ SIGNALBOX_FORWARD_HOST: 'box.example.net', SIGNALBOX_FORWARD_LISTEN: '0.0.0.0' }))).toEqual(
    [],
  );
  expect(configurationWarnings(checkConfig({ SIGNALBOX_PUBLIC_URL: 'http://box.example.net' }))).toEqual([
    expect.stringContaining('set SIGNALBOX_FORWARD_LISTEN'),
  ]);
});

test('several control planes need a bus, an address of their own and PostgreSQL', () => {
  expect(checkConfig({}).cluster).toBeNull();
  const whole = {
    SIGNALBOX_BUS_URL: 'nats://10.0.0.1,bus-2:4223,[::1]',
    SIGNALBOX_NODE_PUBLIC_URL: 'https://one.example.net/',
    SIGNALBOX_DATABASE_URL: 'postgres:///signalbox',
  };
  expect(checkConfig(whole).cluster).toEqual({
    bus: { servers: ['10.0.0.1:4222', 'bus-2:4223', '[::1]:4222'], allowPlain: true, user: undefined, password: undefined },
    nodeUrl: 'https://one.example.net',
    drainMs: 10_000,
  });
  expect(checkConfig({ ...whole, SIGNALBOX_BUS_URL: 'tls://signalbox:a%40b@bus-1,bus-2' }).cluster?.bus).toEqual({
    servers: ['bus-1:4222', 'bus-2:4222'],
    allowPlain: false,
    user: 'signalbox',
    password: 'a@b',
  });
  const { SIGNALBOX_BUS_URL: bus, SIGNALBOX_NODE_PUBLIC_URL: node } = whole;
  expect(Object.keys(mistakesOf({ SIGNALBOX_NODE_PUBLIC_URL: node }))).toEqual(['SIGNALBOX_BUS_URL']);
  expect(Object.keys(mistakesOf({ SIGNALBOX_BUS_URL: bus })).toSorted()).toEqual(['SIGNALBOX_DATABASE_URL', 'SIGNALBOX_NODE_PUBLIC_URL']);
  for (const wrong of [
    'http://bus',
    'nats://',
    'nats://a,,b',
    'nats://a/x',
    'nats://a?x',
    'bus:4222',
    'nats://a:99999',
    'tls://u:p@a,u:p@b',
  ])
    expect(Object.keys(mistakesOf({ ...whole, SIGNALBOX_BUS_URL: wrong })), wrong).toEqual(['SIGNALBOX_BUS_URL']);
});

test('a mail server needs a sender, and no password in its address', () => {
  const whole = { SIGNALBOX_SMTP_URL: 'smtp://alerts%40example.net@mail.example.net', SIGNALBOX_MAIL_FROM: 'Depot <alerts@example.net>' };
  expect(checkConfig(whole).smtp).toEqual({
    host: 'mail.example.net',
    port: 587,
    implicitTls: false,
    user: 'alerts@example.net',
    passwordFile: null,
    from: { name: 'Depot', address: 'alerts@example.net' },
  });
  expect(checkConfig({ ...whole, SIGNALBOX_SMTP_URL: 'smtps://[::1]:2465' }).smtp).toMatchObject({
    host: '::1',
    port: 2465,
    implicitTls: true,
    user: null,
  });
  expect(Object.keys(mistakesOf({ SIGNALBOX_SMTP_URL: 'smtp://mail.example.net' }))).toEqual(['SIGNALBOX_MAIL_FROM']);
  expect(Object.keys(mistakesOf({ SIGNALBOX_SMTP_PASSWORD_FILE: '/run/secret' })).toSorted()).toEqual([
    'SIGNALBOX_MAIL_FROM',
    'SIGNALBOX_SMTP_URL',
  ]);
  for (const wrong of ['http://mail.example.net', 'smtp://user:word@mail.example.net', 'smtp://', 'smtp://mail.example.net/x', 'mail'])
    expect(Object.keys(mistakesOf({ ...whole, SIGNALBOX_SMTP_URL: wrong }))).toEqual(['SIGNALBOX_SMTP_URL']);
  for (const wrong of ['Depot', 'a@b.example, c@d.example', 'Depot <x>'])
    expect(Object.keys(mistakesOf({ ...whole, SIGNALBOX_MAIL_FROM: wrong }))).toEqual(['SIGNALBOX_MAIL_FROM']);
});
