import type { TransientForward } from '../../../../../client/browser.ts';
import type { Work } from '../../../parts/work.ts';

/** What a forward is now: a lamp, a word, and why. */
export interface ForwardState {
  work: Work;
  word: string;
  why: string;
  isOpen: boolean;
}

export function stateOfForward(forward: TransientForward, now: number): ForwardState {
  const {
    closed_at: closedAt,
    expires_at: expiresAt,
    revoked_early: isRevoked,
    refused,
    authorized_at: openAt,
    way_reason: reason,
  } = forward;
  if (closedAt !== null || forward.expired || Date.parse(expiresAt) <= now) {
    return { work: 'canceled', word: 'ended', why: isRevoked ? 'closed by hand' : 'its time was over', isOpen: false };
  }
  if (refused) return { work: 'failed', word: 'refused', why: reason ?? "the agent's rules forbid the target", isOpen: true };
  if (openAt === null) return { work: 'waiting', word: 'not open yet', why: reason ?? 'waits for its agent', isOpen: true };
  if (forward.target_reachable === false) return { work: 'failed', word: 'open', why: 'the target does not answer', isOpen: true };
  return { work: 'done', word: 'open', why: '', isOpen: true };
}

/** `10.0.0.5:22`, `[2001:db8::1]:22`. */
export function endpoint(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

const WAYS: Record<string, string> = {
  direct: 'direct: the agent dials the router itself',
  ssh: 'SSH: through the router',
  api: 'API: by a dst-nat rule on the router, for its agent only',
};

export function wayWords(way: string | null): string {
  return way === null ? 'none yet' : (WAYS[way] ?? way);
}

export interface ReadyLine {
  name: string;
  line: string;
}

/** Programs by the port that they are usually behind. */
const PROGRAMS: Record<number, (host: string, port: number) => ReadyLine> = {
  22: (host, port) => ({ name: 'SSH', line: `ssh -p ${port} USER@${host}` }),
  80: (host, port) => ({ name: 'Browser', line: `http://${endpoint(host, port)}/` }),
  443: (host, port) => ({ name: 'Browser', line: `https://${endpoint(host, port)}/` }),
  3306: (host, port) => ({ name: 'MySQL', line: `mysql --host=${host} --port=${port} --user=USER --password` }),
  3389: (host, port) => ({ name: 'Remote desktop', line: `xfreerdp /v:${endpoint(host, port)} /u:USER` }),
  5432: (host, port) => ({ name: 'PostgreSQL', line: `psql "host=${host} port=${port} user=USER dbname=DATABASE"` }),
  5900: (host, port) => ({ name: 'VNC', line: `vncviewer ${host}::${port}` }),
  8291: (host, port) => ({ name: 'WinBox', line: endpoint(host, port) }),
  8728: (host, port) => ({ name: 'RouterOS API', line: endpoint(host, port) }),
  8729: (host, port) => ({ name: 'RouterOS API with TLS', line: endpoint(host, port) }),
};

/** Lines to copy for a forward; words in capitals are for the reader to fill in. */
export function readyLines(forward: TransientForward, routerName: string): ReadyLine[] {
  const { entry_point: host, port, dst_address: address, dst_port: target, entry_name: name, entry_name_port: namePort } = forward;
  const program = PROGRAMS[target]?.(host, port);
  const local = `signalbox forward --router ${shellWord(routerName)} --to ${endpoint(address, target)} --listen 127.0.0.1:${target > 1023 ? target : 10_000 + target}`;
  return [
    { name: 'Address', line: endpoint(host, port) },
    ...(program ? [program] : []),
    ...(name === undefined ? [] : [{ name: 'By name, for TLS', line: `https://${name}${namePort === 443 ? '' : `:${namePort}`}/` }]),
    { name: 'From anywhere, without the port', line: local },
  ];
}

function shellWord(text: string): string {
  return /^[\w.:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const ENDS: Record<string, string> = {
  open: 'open',
  closed: 'both sides finished',
  client: 'reset by the client',
  target: 'reset by the target',
  channel: 'the line to the agent broke',
  no_channel: 'no line to the agent',
  idle: 'idle for too long',
  expired: 'the forward expired',
  revoked: 'the forward was closed',
  source: 'its address is not allowed any more',
  shutdown: 'the control plane stopped',
  unknown: 'nobody knows',
};

export function endWords(endedBy: string): string {
  return ENDS[endedBy] ?? endedBy.replaceAll('_', ' ');
}
