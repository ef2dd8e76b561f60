import { type Input, type Option, UsageError } from '../command.ts';
import { isDisk } from './setup.ts';
import type { RouterSetup } from './setup.ts';

/** Of `enrol-token create`, for an agent on the router itself. */
export const ROUTEROS_OPTIONS: Readonly<Record<string, Option>> = {
  routeros: { value: '', flag: true, help: 'print lines to paste into a router, which set up the agent in a container there' },
  'server-url': { value: 'URL', help: 'with --routeros: the control plane as the router reaches it; default: SIGNALBOX_PUBLIC_URL' },
  disk: { value: 'DISK', help: 'with --routeros: the router’s disk with the uploaded image; default: disk1' },
  name: { value: 'N', help: 'with --routeros: what the agent is called; default: router' },
  undo: { value: '', flag: true, help: 'with --routeros: print lines that take it away again, and make no token' },
};

/** What `name` in agent.yaml may be. */
const MAX_NAME = 64;

/** @returns undefined without `--routeros`. @throws UsageError for what no router could work with */
export function readRouterSetup(input: Input, publicUrl: string): (Omit<RouterSetup, 'enrolToken'> & { undo: boolean }) | undefined {
  if (!input.flag('routeros')) {
    const [lonely] = Object.keys(ROUTEROS_OPTIONS).filter((name) => input.option(name) !== undefined);
    if (lonely !== undefined) throw new UsageError(`--${lonely} makes sense only with --routeros`);
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
  if (isLoopback) throw new UsageError(`no router reaches ${text}: give the control plane’s address with --server-url`);
}
