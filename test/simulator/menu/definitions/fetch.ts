/** `/tool/fetch` that really fetches, over HTTP and from this machine only. */
import { request, type IncomingMessage } from 'node:http';
import { isReachable, resolveName } from '../../reachable.ts';
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuContext } from '../definition.ts';
import { Trap, type CommandResult } from '../types.ts';
import { demandFeature } from './device-mode.ts';

/** RouterOS gives up on a silent server after a minute; ten seconds are enough on loopback. */
const SILENCE_MS = 10_000;
/** A page in a variable has no more room in RouterOS 7 (6: 4096). */
const MOST_AS_VALUE = 64_512;
/** Larger than any file of a test; keeps a server that never ends from filling the memory. */
const MOST_BYTES = 16 * 1024 * 1024;

const PARAMETERS = [
  'url',
  'mode',
  'address',
  'host',
  'port',
  'src-path',
  'dst-path',
  'upload',
  'user',
  'password',
  'check-certificate',
  'http-method',
  'http-data',
  'http-header-field',
  'http-content-type',
  'keep-result',
  'output',
  'as-value',
  'duration',
  'idle-timeout',
  'ascii',
  'certificate',
];

export const fetchUrl: CustomCommand = {
  parameters: PARAMETERS,
  policies: ['ftp', 'read', 'write', 'test'],
  async run(context): Promise<CommandResult> {
    const { router, call } = context;
    demandFeature(router, 'fetch');
    const url = wantedUrl(context);
    const body = await download(context, url);
    const output = call.attributes.get('output') ?? 'file';
    if (!['file', 'none', 'user', 'user-with-headers'].includes(output)) throw new Trap('input does not match any value of output', 1);
    const wantsFile = output === 'file' && !['no', 'false'].includes(call.attributes.get('keep-result') ?? '');
    if (wantsFile) router.files.write(call.attributes.get('dst-path') ?? (url.pathname.split('/').at(-1) || 'index.html'), body);
    const size = String(Math.ceil(body.length / 1024));
    const row = new Map([
      ['status', 'finished'],
      ['downloaded', size],
      ['total', size],
      ['duration', '1s'],
    ]);
    if (output.startsWith('user')) row.set('data', shownData(router, body));
    return { rows: [row] };
  },
};

function shownData(router: RouterState, body: Buffer): string {
  return body.subarray(0, router.version.major < 7 ? 4096 : MOST_AS_VALUE).toString('utf8');
}

function wantedUrl({ call }: MenuContext): URL {
  const get = (name: string): string | undefined => call.attributes.get(name);
  const path = (get('src-path') ?? '').replace(/^\//, '');
  const text = get('url') ?? (get('address') === undefined ? undefined : `${get('mode') ?? 'http'}://${get('address')}/${path}`);
  if (text === undefined) throw new Trap('missing =url=');
  if (!URL.canParse(text)) throw new Trap('failure: invalid URL');
  const url = new URL(text);
  if (get('port') !== undefined) url.port = get('port') ?? '';
  return url;
}

/** Where a URL leads on this machine: a host of the router's world, or loopback. All else is out of reach. */
function realAddress(router: RouterState, url: URL): string {
  if (url.protocol !== 'http:') throw new Trap(`failure: ${url.protocol.slice(0, -1)} is not simulated`);
  const named = resolveName(router, url.hostname);
  if (named === undefined) throw new Trap('failure: dns name does not exist');
  const { address } = router.resolveHost(named);
  if (!isReachable(router, named) || !address.startsWith('127.')) throw new Trap('failure: connection timeout');
  return address;
}

async function download(context: MenuContext, url: URL): Promise<Buffer> {
  const { router, call } = context;
  const host = realAddress(router, url);
  const answer = await send(context, url, host);
  const status = answer.statusCode ?? 0;
  if (status >= 400) {
    answer.destroy();
    const old = `failure: closing connection: <${status} ${answer.statusMessage ?? ''}> ${host}:${url.port || '80'} (4)`;
    throw new Trap(router.version.major < 7 ? old : `failure: Fetch failed with status ${status}`);
  }
  return readBody(answer, call.session.signal);
}

function send({ call }: MenuContext, url: URL, host: string): Promise<IncomingMessage> {
  const get = (name: string): string | undefined => call.attributes.get(name);
  const data = get('http-data');
  const headers: Record<string, string> = { host: url.host, 'user-agent': 'Mikrotik/fetch' };
  for (const line of (get('http-header-field') ?? '').split(',')) {
    const [name = '', ...rest] = line.split(':');
    if (name.trim() !== '') headers[name.trim().toLowerCase()] = rest.join(':').trim();
  }
  if (data !== undefined) headers['content-length'] = String(Buffer.byteLength(data));
  const user = get('user') ?? decodeURIComponent(url.username);
  const auth = user === '' ? {} : { auth: `${user}:${get('password') ?? decodeURIComponent(url.password)}` };
  const method = (get('http-method') ?? (data === undefined ? 'get' : 'post')).toUpperCase();
  return new Promise((resolve, reject) => {
    const target = { host, port: url.port || 80, path: `${url.pathname}${url.search}`, method, headers, ...auth };
    const sent = request({ ...target, timeout: SILENCE_MS, signal: call.session.signal }, resolve);
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', (error: NodeJS.ErrnoException) => reject(failure(error, call.session.signal)));
    sent.end(data);
  });
}

function failure(error: NodeJS.ErrnoException, signal: AbortSignal): Trap {
  if (signal.aborted) return new Trap('interrupted', 2);
  return new Trap(error.code === 'ECONNREFUSED' ? 'failure: closing connection: <connection refused>' : 'failure: connection timeout');
}

async function readBody(answer: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) throw new Trap('failure: not enough space on disk');
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Trap ? error : failure(error as NodeJS.ErrnoException, signal);
  }
  return Buffer.concat(chunks);
}
