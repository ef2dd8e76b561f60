import type { TransientForward } from '../../../../../client/browser.ts';
import { endpoint } from '../../../parts/endpoint.ts';
import { shellWord } from '../../../parts/shell-word.ts';
import { numberWords } from '../../../parts/sizes.ts';
import type { Work } from '../../../parts/work.ts';
import { countOf } from '../words.ts';

export const words = {
  forwards: 'Forwards',
  /** The record, in sentences about one that cannot be read. */
  forward: 'forward',
  columns: {
    state: 'State',
    to: 'To',
    behind: 'Behind',
    from: 'From',
    entry: 'Entry',
    open: 'Connections',
    bytes: 'Bytes',
    left: 'Time left',
  },
  list: {
    behind: (router: string) => `Forwards behind ${router}`,
    open: 'Open a forward',
    filter: 'The name of a router, or status:closed',
    filterHint: 'status:open, closed or all \u00a0 router:',
    count: (count: number) => countOf(count, 'forward'),
    countOpen: (count: number) => `${countOf(count, 'forward')} open`,
    empty: { open: 'No forwards are open.', closed: 'No forward has ended.', all: 'No forward was ever opened.' },
    emptyHint: 'A forward is a door to one port behind one router, for one address, for a time.',
    mayNot: 'People with the role operator open forwards.',
  },
  page: {
    crumb: 'behind {router}, made {time}',
    admits: (network: string) => `It admits ${network}.`,
    left: 'Time left',
    openNow: (count: number) => `${count} open now`,
    soFar: (count: number, sent: string, back: string) => `${count} so far, ${sent} to the target, ${back} back`,
    endsAt: (time: string) => `It ends by itself at ${time}; open connections are cut at that moment.`,
  },
  refused: {
    title: 'Let the agent open it',
    small: 'on the machine of the agent',
    how: 'Its agent.yaml says where its forwards may lead. Let the list there have this target beside what it has (here: what is allowed unless it says otherwise), and restart the agent. A forward that has time left opens then.',
    label: 'the lines for agent.yaml',
  },
  connect: {
    title: 'Connect',
    whenOpen: 'when it is open',
    from: (network: string) => `from ${network}`,
    loopback: (host: string) =>
      `Only the machine of the control plane reaches ${host}. For others, the operator sets SIGNALBOX_FORWARD_LISTEN and SIGNALBOX_FORWARD_HOST.`,
  },
  facts: {
    title: 'Facts',
    way: 'Way',
    whyThisWay: 'Why this way',
    notTold: 'not told',
    target: 'Target',
    notTried: 'not tried yet',
    answers: 'answers',
    noAnswer: 'does not answer',
    admits: 'Admits',
    turnedAway: 'Turned away',
    nobody: 'nobody',
    attempts: (count: number) => countOf(count, 'attempt'),
    most: 'At most',
    atOnce: (count: number) => `${count} at the same time`,
    idle: 'Idle',
    neverCut: 'never cut',
    cutAfter: (length: string) => `cut after ${length}`,
    openSince: 'Open since',
    notOpen: 'not open yet',
    ends: 'Ends',
    ended: 'Ended',
    openedBy: 'Opened by',
    closedBy: 'Closed by',
  },
  connections: {
    title: 'Connections',
    empty: 'Nobody has connected yet.',
    traffic: (sent: string, received: string) => `${sent} in, ${received} out`,
    older: (count: number) => `And ${count} older ones.`,
  },
  acts: { extend: 'Extend', close: 'Close it now' },
  closing: {
    title: (target: string) => `Close the forward to ${target}?`,
    close: 'Close it now',
    nobody: 'Nobody is connected now.',
    cuts: (connections: number) => `${countOf(connections, 'open connection')} ${connections === 1 ? 'is' : 'are'} cut.`,
    port: 'Its port is not used again for ten minutes.',
  },
  extending: {
    title: 'Extend the forward',
    length: 'From now on for',
    lengthHint: 'Less than it has left makes it shorter',
    from: 'Allow from',
    fromHint: 'Connections from other addresses end.',
    fromHintWith: (own: string) => `Connections from other addresses end. Yours is ${own}`,
    cancel: 'Cancel',
    extend: 'Extend it',
  },
  opening: {
    title: 'Open a forward',
    titleBehind: (router: string) => `Open a forward behind ${router}`,
    mayNot: 'People with the role operator open forwards. Yours is viewer.',
    router: 'Behind which router',
    routerHint: 'A part of its name or serial number',
    more: (count: number) => `${numberWords(count)} more. Write more of the name.`,
    noRouter: 'No agent has told of a router yet.',
    noMatch: 'No router matches.',
    another: 'Choose another',
    later: 'The forward is made at once, and opens when the agent has the router again.',
    open: 'Open the forward',
    to: 'To',
    toHint: 'as the router sees it',
    thisRouter: 'This router',
    presets: { address: 'Address of', port: 'Port of' },
    address: 'Address',
    addressHint: "192.168.88.10, or one of the router's own addresses",
    port: 'Port',
    portHint: '1 to 65,535',
    admission: 'From whom, how long',
    from: 'Allow from',
    fromHint: 'An address or a network',
    fromHintWith: (own: string, isTaken: boolean) =>
      isTaken
        ? `Your address is ${own}`
        : `Your address, as this control plane sees it, is ${own}: it is not public, and is taken only where the operator has set SIGNALBOX_ALLOW_PRIVATE_SOURCES=on`,
    length: 'For',
    lengthHint: 'It ends by itself, also when nobody remembers it',
  },
};

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

/** Where forwards may lead unless agent.yaml says otherwise: docs/settings.md. */
const ALLOWED_BY_DEFAULT = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', "'fc00::/7'"];

/** Lines for agent.yaml that let its forwards lead to this address, too. */
export function allowLines(address: string): string {
  const target = address.includes(':') ? `'${address}/128'` : `${address}/32`;
  return `forwards:\n  allow: [${[...ALLOWED_BY_DEFAULT, target].join(', ')}]`;
}

const WAYS: Record<string, string> = {
  direct: 'direct: the agent dials the router itself',
  ssh: 'SSH: the router dials the target for the agent',
  api: 'API: by a dst-nat rule on the router, for its agent only',
};

export function wayWords(way: string | null): string {
  return way === null ? 'none yet' : (WAYS[way] ?? way);
}

/** What the agent says of its choice, for people; what else it says stays. */
const WHY: Record<string, string> = {
  'the target is the router itself': 'the target is a port of the router itself',
  'the router forwards over SSH':
    'the router has SSH, which needs no firewall rule. The agent sets /ip ssh forwarding-enabled=local for as long as a forward needs it',
  'a dst-nat rule on the router': 'SSH is not configured for this router, or does not work',
  'fixed by the configuration of the agent': 'forward_way in agent.yaml says so',
};

export function whyWords(reason: string): string {
  const [first, ...others] = reason.split('; ');
  return [WHY[first!] ?? first, ...others].join('; ');
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
    program ?? { name: 'If SSH listens there', line: PROGRAMS[22]!(host, port).line },
    ...(name === undefined ? [] : [{ name: 'By name, for TLS', line: `https://${name}${namePort === 443 ? '' : `:${namePort}`}/` }]),
    {
      name: 'From anywhere, without the port: by the command line of Signalbox, after signalbox login with an API key (an administrator makes it)',
      line: local,
    },
  ];
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
