import { lookup } from 'node:dns/promises';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { AgentErrorCode } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import type { AllowList } from './allowlist.ts';
import type { EntryPorts } from './entry-ports.ts';
import { isRouterItself } from './router-addresses.ts';
import type { SshForwarding } from './ssh-forwarding.ts';
import { answersTcp } from './tcp.ts';
import type { Target, Way, WayName } from './types.ts';
import { ApiWay } from './ways/api.ts';
import { DirectWay } from './ways/direct.ts';
import { SshWay } from './ways/ssh.ts';

export interface WayDeps {
  sshForwarding: SshForwarding;
  /** Judges what the agent itself dials; the target has been judged before. */
  allow: AllowList;
  entryPorts: EntryPorts;
  clock: Clock;
  log: Log;
  /** Marks what is written on the router for this forward. */
  mark: string;
  expiresInMs: number;
  /** Something may be left on the router that has to be searched for later. */
  onLeftBehind: () => void;
  /** The way worked and does no more, and cannot be mended; it is still to be closed. */
  onLost: (reason: string) => void;
}

export interface ChosenWay {
  way: Way;
  reason: string;
  targetReachable: boolean | null;
}

/** A way that was opened; `reason` adds to why it was chosen. */
type OpenedWay = Omit<ChosenWay, 'reason'> & { reason?: string };

/** A closed port answers at once; one that is filtered never does, and people wait for the answer. */
const TARGET_CHECK_MS = 2_000;

interface Candidate {
  name: WayName;
  why: string;
}

/**
 * Which ways are worth trying, best first: a target that is the router itself is dialled directly; SSH leaves no trace
 * in the firewall; the API way needs rules on the router.
 */
export function candidates(router: Pick<RouterAdapter, 'forwardWay' | 'hasApi' | 'hasSsh'>, targetIsRouter: boolean): Candidate[] {
  if (router.forwardWay !== 'auto') return [{ name: router.forwardWay, why: 'fixed by the configuration of the agent' }];
  const ways: Candidate[] = [];
  if (targetIsRouter) ways.push({ name: 'direct', why: 'the target is the router itself' });
  if (router.hasSsh) ways.push({ name: 'ssh', why: 'the router forwards over SSH' });
  // Address translation cannot lead a connection back to the router's own services.
  if (router.hasApi && !targetIsRouter) ways.push({ name: 'api', why: 'a dst-nat rule on the router' });
  return ways;
}

/**
 * Opens the best way that works and tries the target's port through it. A router's own port that does not answer may still
 * be reached over SSH; where that does not work either, it is what the forward was asked for and is dialled when it answers.
 * @throws AgentError that tells why of all ways
 */
export async function chooseWay(router: RouterAdapter, target: Target, deps: WayDeps, deadline: Deadline): Promise<ChosenWay> {
  const targetIsRouter = await isRouterItself(router, target.host, deadline);
  const refusals: Refusal[] = [];
  let silent: { way: OpenedWay; why: string } | undefined;
  for (const { name, why } of candidates(router, targetIsRouter)) {
    try {
      const way = await openWay(name, router, target, { ...deps, targetIsRouter }, deadline);
      if (name !== 'direct' || way.targetReachable)
        return chosenWay(way, why, [...(silent ? [SILENT] : []), ...refusals.map(describeRefusal)]);
      silent = { way, why };
    } catch (error) {
      refusals.push({ name, error: toError(error) });
    }
  }
  if (silent) return chosenWay(silent.way, silent.why, refusals.map(describeRefusal));
  throw allRefused(refusals);
}

const SILENT = "direct: the router's port does not answer the agent";

function chosenWay({ reason, ...way }: OpenedWay, why: string, refused: string[]): ChosenWay {
  return { ...way, reason: [why, ...refused, reason].filter(Boolean).join('; ').slice(0, 300) };
}

interface Refusal {
  name: WayName;
  error: Error;
}

const LABELS: Record<WayName, string> = { direct: 'direct', ssh: 'ssh', api: 'dst-nat' };

function describeRefusal({ name, error }: Refusal): string {
  return `${LABELS[name]}: ${error.message}`;
}

/** What stays so until somebody changes the configuration or the router; the control plane does not ask again by itself. */
const LASTING: ReadonlySet<AgentErrorCode> = new Set(['not_allowed', 'unsupported', 'invalid']);

/** As lasting as the most passing one. */
function allRefused(refusals: readonly Refusal[]): Error {
  const last = refusals.at(-1);
  if (!last) return new AgentError('unsupported', 'this router offers no way for forwards');
  if (refusals.length === 1) return last.error;
  const codes = refusals.map(({ error }) => (error instanceof AgentError ? error.code : 'internal'));
  const code = codes.findLast((each) => !LASTING.has(each)) ?? codes.at(-1)!;
  return new AgentError(code, refusals.map(describeRefusal).join('; '), { cause: last.error });
}

interface OpenContext extends WayDeps {
  targetIsRouter: boolean;
}

async function openWay(name: WayName, router: RouterAdapter, target: Target, context: OpenContext, deadline: Deadline): Promise<OpenedWay> {
  switch (name) {
    case 'direct':
      return openDirect(router, target, context);
    case 'ssh':
      return openSsh(router, target, context, deadline);
    case 'api':
      return openApi(router, target, context, deadline);
  }
}

/**
 * The router's services listen on all of its addresses, and the configured one is known to reach it.
 * @throws AgentError `not_allowed`, `router_unreachable`
 */
async function openDirect(router: RouterAdapter, target: Target, { targetIsRouter, allow }: OpenContext): Promise<OpenedWay> {
  const actual = targetIsRouter ? { host: await allowedAddress(router.host, allow), port: target.port } : target;
  return { way: new DirectWay(actual), targetReachable: await answersTcp(actual, { timeoutMs: TARGET_CHECK_MS }) };
}

/** The first address of the router that may be dialled. It is the address that is judged, so it is what is dialled too. */
async function allowedAddress(host: string, allow: AllowList): Promise<string> {
  const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
    throw new AgentError('router_unreachable', `${host} has no address`, { cause: error });
  });
  const found = addresses.find(({ address }) => allow.refusal(address) === undefined);
  if (found) return found.address;
  throw new AgentError('not_allowed', allow.refusal(addresses[0]?.address ?? host) ?? `${host} has no address`);
}

async function openSsh(
  router: RouterAdapter,
  target: Target,
  { sshForwarding, onLost, expiresInMs }: OpenContext,
  deadline: Deadline,
): Promise<OpenedWay> {
  const way = await SshWay.open({ router, target, forwarding: sshForwarding, onLost, expiresInMs }, deadline);
  try {
    const targetReachable = await tryTarget(way);
    const { failSafe = 'scheduler' } = way;
    return { way, targetReachable, ...(failSafe === 'scheduler' ? {} : { reason: SSH_FAIL_SAFE_NOTES[failSafe] }) };
  } catch (error) {
    await way.close();
    throw error;
  }
}

async function openApi(router: RouterAdapter, target: Target, context: OpenContext, deadline: Deadline): Promise<OpenedWay> {
  const way = await ApiWay.open({ ...context, router, target }, deadline);
  const targetReachable = await answersTcp(way.entry, { timeoutMs: TARGET_CHECK_MS });
  return { way, targetReachable, ...(way.failSafe === 'scheduler' ? {} : { reason: FAIL_SAFE_NOTES[way.failSafe] }) };
}

/** What the person who made the forward should know. */
const FAIL_SAFE_NOTES = {
  'delayed script': 'device-mode forbids the scheduler, so after a reboot only the agent removes the rule',
  none: 'device-mode forbids the scheduler, so only the agent removes the rule',
} as const;

const SSH_FAIL_SAFE_NOTES = {
  'delayed script': 'device-mode forbids the scheduler, so after a reboot only the agent switches forwarding-enabled back',
  none: 'device-mode forbids the scheduler, so only the agent switches forwarding-enabled back',
} as const;

/**
 * Does the target answer through this way? A target that does not is no reason against the way.
 * @throws AgentError when it is the way itself that does not work
 */
async function tryTarget(way: Way): Promise<boolean> {
  try {
    const stream = await way.connect({ timeoutMs: TARGET_CHECK_MS });
    stream.on('error', () => undefined);
    stream.destroy();
    return true;
  } catch (error) {
    if (error instanceof AgentError && (error.code === 'rejected' || error.code === 'outcome_unknown')) return false;
    throw error;
  }
}
