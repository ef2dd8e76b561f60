import { once } from 'node:events';
import net from 'node:net';

/** Offset of the forwards' entry ports from the first port. */
export const FORWARDS_FROM = 100;
/** Enough for many forwards of one person, and few enough to stay below the next demo. */
export const FORWARD_PORTS = 300;
/** Distance between the ports of two demos. */
const STEP = 1000;

/** The first port may not be higher, or the last entry port would be beyond 65535. */
export const HIGHEST_FIRST_PORT = 65_535 - FORWARDS_FROM - FORWARD_PORTS;

const DEFAULT_FIRST_PORT = 8080;

export interface DemoPorts {
  api: number;
  sandbox: number;
  routers: readonly [RouterPorts, RouterPorts];
  /** Of the mail server that keeps mails as files. */
  mail: number;
  /** Inclusive. */
  forwards: { first: number; last: number };
}

export interface RouterPorts {
  api_port: number;
  ssh_port: number;
}

/** @returns undefined for an invalid or too high port */
export function readFirstPort(value: string | undefined): number | undefined {
  const port = Number(value ?? DEFAULT_FIRST_PORT);
  return Number.isInteger(port) && port >= 1 && port <= HIGHEST_FIRST_PORT ? port : undefined;
}

export function portsOf(first: number): DemoPorts {
  return {
    api: first,
    sandbox: first + 1,
    routers: [
      { api_port: first + 2, ssh_port: first + 3 },
      { api_port: first + 4, ssh_port: first + 5 },
    ],
    mail: first + 6,
    forwards: { first: first + FORWARDS_FROM, last: first + FORWARDS_FROM + FORWARD_PORTS - 1 },
  };
}

/** Where the demo listens from its start. Entry ports are opened later, one by one; ports in use are skipped then. */
export function demoPorts(first: number): number[] {
  const { api, sandbox, mail, routers } = portsOf(first);
  return [api, sandbox, mail, ...routers.flatMap((router) => [router.api_port, router.ssh_port])];
}

/**
 * @param listened the ports that must be free
 * @param command as the user typed it
 * @throws Error that names the port that is in use and a DEMO_PORT whose ports are all free
 */
export async function checkPorts(first: number, listened = demoPorts, command = 'npm run demo'): Promise<void> {
  const taken = await firstTaken(listened(first));
  if (taken === undefined) return;
  const proposal = await freeFirstPort(first, listened);
  const choice = proposal === undefined ? 'choose other ports with DEMO_PORT' : `choose other ports: DEMO_PORT=${proposal} ${command}`;
  throw new Error(`port ${taken} is in use; end what listens there or ${choice}`);
}

/** Searches upward from the next demo's ports, then from the bottom, so that the proposed port works. */
async function freeFirstPort(first: number, listened: typeof demoPorts): Promise<number | undefined> {
  const above = stepsFrom(first + STEP, HIGHEST_FIRST_PORT);
  const below = stepsFrom(DEFAULT_FIRST_PORT, Math.min(first - STEP, HIGHEST_FIRST_PORT));
  for (const candidate of [...above, ...below]) {
    if ((await firstTaken(listened(candidate))) === undefined) return candidate;
  }
  return undefined;
}

function stepsFrom(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, Math.floor((to - from) / STEP) + 1) }, (_, i) => from + i * STEP);
}

async function firstTaken(ports: readonly number[]): Promise<number | undefined> {
  for (const port of ports) {
    if (!(await canListen(port))) return port;
  }
  return undefined;
}

async function canListen(port: number): Promise<boolean> {
  const server = net.createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
