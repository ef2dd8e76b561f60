import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify as toYaml } from 'yaml';
import type { Program } from './children.ts';
import type { Stage } from './stage.ts';

export interface DemoRouter {
  identity: string;
  version: string;
  model: string;
  api_port: number;
  ssh_port: number;
  username: string;
  password: string;
}

export interface ListedRouter {
  id: string;
  identity: string;
  has_pulse: boolean;
}

/** Looks at the routers in terminals. */
const READER = { username: 'look', password: 'router-look' };

const MODELS = [
  { identity: 'edge-berlin', version: '7.18.2', model: 'hAP ac^2' },
  { identity: 'edge-zurich', version: '6.49.18', model: 'hEX' },
  { identity: 'edge-vienna', version: '7.16.1', model: 'RB4011iGS+' },
];

/** One simulated router for each pair of ports. */
export function routersAt(ports: readonly { api_port: number; ssh_port: number }[]): DemoRouter[] {
  return ports.map((pair, index) => {
    const model = MODELS[index]!;
    return { ...model, ...pair, username: 'signalbox', password: `router-${model.identity}` };
  });
}

/** The program that is this router. */
export function simulatorOf(router: DemoRouter): Program {
  return {
    name: router.identity,
    file: 'scripts/simulator.ts',
    args: [
      `--api-port=${router.api_port}`,
      `--ssh-port=${router.ssh_port}`,
      `--version=${router.version}`,
      `--model=${router.model}`,
      `--identity=${router.identity}`,
      `--username=${router.username}`,
      `--password=${router.password}`,
      `--reader=${READER.username}=${READER.password}`,
    ],
  };
}

export interface DemoAgent {
  /** Of its files and of its log. */
  name: string;
  server: string;
  /** Enrols it. */
  token: string;
  routers: readonly DemoRouter[];
}

/** Enrols an agent and starts it. */
export async function startAgent(stage: Stage, agent: DemoAgent): Promise<void> {
  const { name, server, token } = agent;
  const credentials = path.join(stage.folder, `${name}-credentials.json`);
  const config = path.join(stage.folder, `${name}.yaml`);
  await writeFile(config, toYaml({ credentials, state: path.join(stage.folder, `${name}-state`), ...agentConfig(agent) }), { mode: 0o600 });
  await stage.node('agent/main.ts', ['enrol', '--server', server, '--token', token, '--credentials', credentials]);
  stage.children.start({ name, file: 'agent/main.ts', args: ['run', '--config', config], ifItEnds: 'restart', group: 'agents' });
}

function agentConfig({ server, routers }: DemoAgent): object {
  return {
    server,
    // The demo's targets are services on this machine; the default for real agents excludes loopback.
    forwards: { allow: ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] },
    terminal: 'full',
    routers: routers.map((router) => ({
      name: router.identity,
      host: '127.0.0.1',
      api: { port: router.api_port, username: router.username, password: router.password },
      ssh: { port: router.ssh_port, username: router.username, password: router.password },
      terminal: { read: READER, full: { username: router.username, password: router.password } },
    })),
  };
}

/** @returns undefined while one of these routers does not answer */
export async function listRouters(baseUrl: string, apiKey: string, routers: readonly DemoRouter[]): Promise<ListedRouter[] | undefined> {
  const data = await listKnown(baseUrl, apiKey);
  const ready = routers.every(({ identity }) => data.some((router) => router.identity === identity && router.has_pulse));
  return ready ? data : undefined;
}

/** Every router that was ever seen. @throws Error without an answer of success */
export async function listKnown(baseUrl: string, apiKey: string): Promise<ListedRouter[]> {
  const answer = await fetch(`${baseUrl}/api/routers`, { headers: { authorization: `Bearer ${apiKey}` } });
  if (!answer.ok) throw new Error(`the list of routers was answered with ${answer.status}`);
  return ((await answer.json()) as { data: ListedRouter[] }).data;
}

export function idOf(listed: readonly ListedRouter[], identity: string): string {
  return listed.find((router) => router.identity === identity)?.id ?? '';
}

/** As `.demo/demo.json` and `.demo/cluster.json` have them. */
export function describeRouters(routers: readonly DemoRouter[], listed: readonly ListedRouter[]): object[] {
  return routers.map(({ identity, api_port, ssh_port, username, password }) => ({
    id: idOf(listed, identity),
    identity,
    api_port,
    ssh_port,
    username,
    password,
  }));
}
