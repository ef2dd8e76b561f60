import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkConfig } from '../../server/config.ts';
import { configurationWarnings } from '../../server/config-warnings.ts';

/** Nothing here can run containers; what the files say of each other is compared. */

const read = (file: string): Promise<string> => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');

interface Service {
  volumes: string[];
  ports?: string[];
  environment?: Record<string, string>;
  networks?: { default: { ipv4_address: string } };
}

interface Compose {
  services: Record<'agent' | 'server' | 'proxy', Service>;
  volumes: Record<string, unknown>;
}

const agentImage = await read('docker/agent.Dockerfile');
const text = await read('docker-compose.yml');
const compose = parse(text) as Compose;
const state = /^state: (\S+)$/m.exec(await read('docs/agent.md'))?.[1] ?? 'not in docs/agent.md';

test('the agent’s image has the state folder of docs/agent.md, of the user it runs as, as a volume', () => {
  expect(agentImage).toMatch(new RegExp(`^RUN .*mkdir .*${state}.* chown node:node ${state}$`, 'm'));
  expect(agentImage).toMatch(new RegExp(`^VOLUME ${state}$`, 'm'));
  expect(agentImage).toMatch(/^USER node$/m);
});

test('compose keeps that folder in a named volume, which takes the owner of the image’s folder', () => {
  const [volume, target, mode] = compose.services.agent.volumes.find((entry) => entry.includes(`:${state}`))!.split(':');
  expect([target, mode]).toEqual([state, undefined]);
  expect(compose.volumes).toHaveProperty(volume!);
});

test('the commands of compose enrol into the volume, and agent.yaml looks there', () => {
  const file = `${state}/credentials.json`;
  expect(text).toMatch(new RegExp(`docker compose run --rm agent enrol .*--credentials ${file}$`, 'm'));
  expect(text).toContain(`credentials: ${file}`);
  expect(text).toContain(`state: ${state}`);
});

test('plain HTTP is published nowhere: from outside only the proxy and the entry ports can be reached', () => {
  const { server, proxy, agent } = compose.services;
  const settings = checkConfig(server.environment!);
  const { first, last } = settings.forwards.ports;
  expect(server.ports).toEqual([`${first}-${last}:${first}-${last}`]);
  expect(proxy.ports).toEqual(['80:80', '443:443']);
  expect(agent.ports).toBeUndefined();
  expect(settings.publicUrl).toMatch(/^https:/);
});

test('compose trusts only its own proxy, and the configuration gives no warnings', () => {
  const settings = checkConfig(compose.services.server.environment!);
  expect(settings.trustProxy).toEqual([compose.services.proxy.networks!.default.ipv4_address]);
  expect(configurationWarnings(settings)).toEqual([]);
});

test('the proxy of compose serves the public address and leads to the control plane', async () => {
  const settings = checkConfig(compose.services.server.environment!);
  const caddyfile = await read('docker/Caddyfile');
  expect(compose.services.proxy.volumes[0]).toBe('./docker/Caddyfile:/etc/caddy/Caddyfile:ro');
  expect(caddyfile).toContain(`${new URL(settings.publicUrl).host} {`);
  expect(caddyfile).toContain(`reverse_proxy server:${settings.listen.port} {`);
});

describe('docker-compose.cluster.yml', async () => {
  const { services } = parse(await read('docker-compose.cluster.yml'), { merge: true }) as { services: Record<string, Service> };
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node-'));
  const environments = nodes.map(([, { environment }]) =>
    Object.fromEntries(Object.entries(environment!).map(([name, value]) => [name, value.replaceAll(/\$\{\w+\}/g, 'secret')])),
  );
  const balancer = await read('docker/haproxy.cfg');

  test('its nodes have valid settings without warnings, and trust only its balancer', () => {
    expect(nodes).toHaveLength(3);
    for (const environment of environments) {
      const settings = checkConfig(environment);
      expect(configurationWarnings(settings)).toEqual([]);
      expect(settings.trustProxy).toEqual([services['balancer']!.networks!.default.ipv4_address]);
    }
  });

  test('its nodes differ in their own address and their entry ports, which are published, and in nothing else', () => {
    const names = Object.keys(environments[0]!);
    const differing = names.filter((name) => environments.some((environment) => environment[name] !== environments[0]![name]));
    expect(differing.toSorted()).toEqual(['SIGNALBOX_FORWARD_PORTS', 'SIGNALBOX_NODE_PUBLIC_URL']);
    const ports = environments.map((environment) => environment['SIGNALBOX_FORWARD_PORTS']!);
    expect(new Set(ports).size).toBe(3);
    expect(nodes.map(([, node]) => node.ports)).toEqual(ports.map((range) => [`${range}:${range}`]));
  });

  test('its balancer knows each of them under its own address', () => {
    for (const [index, [name]] of nodes.entries()) {
      const { hostname } = new URL(environments[index]!['SIGNALBOX_NODE_PUBLIC_URL']!);
      expect(balancer).toContain(`use_backend ${name} if { hdr(host),field(1,:) -i ${hostname} }`);
      expect(balancer).toContain(`backend ${name}\n  server ${name} ${name}:8080\n`);
    }
  });
});
