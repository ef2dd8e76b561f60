import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { Installation } from './installation.ts';
import { NetworkLab } from './network-lab.ts';
import { ProcessWorld } from './process-world.ts';
import type { ShownForward } from './process-world.ts';

/** A network behind a router, with control plane and agent in processes of their own. */
export interface ForwardSite {
  /** For files of the test. */
  readonly folder: string;
  /** Has a server listen on a machine behind the router. @returns its port there */
  listen(server: net.Server): Promise<number>;
  /** The address of that machine, and a port of it that is free. */
  readonly address: string;
  freePort(): Promise<number>;
  /** Starts a program on that machine; what it prints can be read. */
  start(program: string, args: string[]): ChildProcess;
  /** @returns the entry port of a new forward to that port */
  forward(port: number): Promise<string>;
  close(): Promise<void>;
}

/** An address behind the router: 127.0.0.1 would be the router itself. */
export const BEHIND = '127.0.0.5';

/** A router with a real OpenSSH server in front of a simulated console; the agent knows it by SSH alone. */
export async function openSshSite(): Promise<ForwardSite> {
  const world = await ProcessWorld.start({ routers: [{ ways: { ssh: 'openssh' } }] });
  const children: ChildProcess[] = [];
  const listen = async (server: net.Server): Promise<number> => {
    server.listen(0, BEHIND);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  return {
    folder: world.folder,
    address: BEHIND,
    listen,
    freePort: async () => {
      const server = net.createServer();
      const port = await listen(server);
      server.close();
      return port;
    },
    start: (program, args) => {
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
      children.push(child);
      return child;
    },
    forward: async (port) => {
      const made = await world.forward(port, { address: BEHIND });
      expect(made).toMatchObject({ way: 'ssh', target_reachable: true });
      return String(made.port);
    },
    close: async () => {
      for (const child of children) child.kill();
      await world.close();
    },
  };
}

const LOGIN = { username: 'signalbox', password: 'router-password' };
const LAN_RELAY = fileURLToPath(new URL('lan-relay.ts', import.meta.url));
const FIRST_LAN_PORT = 9001;

/** A router with real NAT: nftables in a network namespace; the agent knows it by its API alone. */
export async function openNatSite(): Promise<ForwardSite> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-nat-'));
  const lab = await NetworkLab.open({ users: [{ name: LOGIN.username, password: LOGIN.password }] });
  const installation = await Installation.start({
    forwardPorts: '44000-44999',
    agent: {
      forwards: { allow: ['192.168.88.0/24'] },
      routers: [{ name: 'branch', host: lab.routerAddress, api: { port: 8728, ...LOGIN } }],
    },
  });
  const routerId = await installation.routerId();
  let lastPort = FIRST_LAN_PORT;
  const freePort = async (): Promise<number> => Promise.resolve((lastPort += 1));
  return {
    folder,
    address: lab.lanAddress,
    freePort,
    start: (program, args) => lab.startInLan(program, args),
    listen: async (server) => {
      const port = await freePort();
      const file = path.join(folder, `${port}.sock`);
      server.listen(file);
      await once(server, 'listening');
      await once(lab.startInLan(process.execPath, [LAN_RELAY, String(port), file]).stdout!, 'data');
      return port;
    },
    forward: async (port) => {
      const body = { expire_after_minutes: 30, dst_port: port, dst_address: lab.lanAddress, allow_from: '127.0.0.1' };
      const made = await installation.forward<ShownForward>(routerId, body);
      expect(made, JSON.stringify(made)).toMatchObject({ way: 'api', target_reachable: true });
      return String(made.port);
    },
    close: async () => {
      await installation.close();
      await lab.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
