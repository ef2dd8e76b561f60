import { type Input, type Option, UsageError } from '../command.ts';
import { isDisk } from './setup.ts';
import type { RouterSetup } from './setup.ts';

/** Options of `enrol-token create` for an agent in a container on the router. */
export const ROUTEROS_OPTIONS: Readonly<Record<string, Option>> = {
  routeros: { value: '', flag: true, help: 'print RouterOS lines that set up the agent in a container on the router' },
  'server-url': { value: 'URL', help: 'with --routeros: URL of the control plane for the router; default: SIGNALBOX_PUBLIC_URL' },
  disk: { value: 'DISK', help: 'with --routeros: disk of the router with the uploaded image; default: disk1' },
  name: { value: 'N', help: 'with --routeros: name of the agent; default: router' },
  undo: { value: '', flag: true, help: 'with --routeros: print lines that remove the agent again; creates no token' },
};

/** What `name` in agent.yaml may be. */
const MAX_NAME = 64;

/** @returns undefined without `--routeros`. @throws UsageError for values that cannot work on a router */
export function readRouterSetup(input: Input, publicUrl: string): (Omit<RouterSetup, 'enrolToken'> & { undo: boolean }) | undefined {
  if (!input.flag('routeros')) {
    const [orphan] = Object.keys(ROUTEROS_OPTIONS).filter((name) => input.option(name) !== undefined);
    if (orphan !== undefined) throw new UsageError(`--${orphan} needs --routeros`);
    return undefined;
  }
  const undo = input.flag('undo');
  const disk = input.option('disk') ?? 'disk1';
  if (!isDisk(disk)) throw new UsageError('--disk must be the name of a disk or folder on the router, like disk1 or usb1/signalbox');
  const name = input.option('name') ?? 'router';
  if (name === '' || name.length > MAX_NAME) throw new UsageError(`--name must have 1 to ${MAX_NAME} characters`);
  const serverUrl = input.option('server-url') ?? publicUrl;
  if (!undo) checkServerUrl(serverUrl);
  return { serverUrl, disk, name, undo };
}

function checkServerUrl(text: string): void {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('--server-url must be an http or https address');
  const isLoopback = /^(?:localhost|127\..*|\[::1\])$/.test(url.hostname);
  if (isLoopback) throw new UsageError(`no router can reach ${text}: give the URL of the control plane with --server-url`);
}
