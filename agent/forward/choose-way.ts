import { lookup } from 'node:dns/promises';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/deadline.ts';
import { AgentError } from '../core/errors.ts';
import type { AgentErrorCode } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import type { AllowList } from './allowlist.ts';
import type { NatPorts } from './nat-ports.ts';
import { isRouterItself } from './router-addresses.ts';
import type { SshForwarding } from './ssh-forwarding.ts';
import { answersTcp } from './tcp.ts';
import type { Target, Way, WayName } from './types.ts';
import { DstNatWay } from './ways/dst-nat.ts';
import { DirectWay } from './ways/direct.ts';
import { SshWay } from './ways/ssh.ts';

export interface WayDeps {
  sshForwarding: SshForwarding;
  /** Checks addresses that the agent itself dials; the target was checked before. */
  allow: AllowList;
  natPorts: NatPorts;
  clock: Clock;
  log: Log;
  /** Comment or name of everything written on the router for this forward. */
  mark: string;
  expiresInMs: number;
  /** Something may be left on the router: it must be searched later. */
  onLeftBehind: () => void;
  /** The way stopped working and cannot be restored; the caller must close it. */
  onLost: (reason: string) => void;
}

export interface ChosenWay {
  way: Way;
  reason: string;
  targetReachable: boolean | null;
}

/** An open way; `reason` is added to the reason for the choice. */
type OpenedWay = Omit<ChosenWay, 'reason'> & { reason?: string };

/** A closed port answers at once, a filtered one never, and a person waits for the result. */
const TARGET_CHECK_MS = 2_000;

interface Candidate {
  name: WayName;
  why: string;
}

/**
 * The ways to try, best first: a target that is the router itself is dialled directly; SSH needs no firewall rules; the API way
 * needs rules on the router.
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
 * Opens the best way that works and tests the target's port through it. If a router's own port does not answer directly, SSH may
 * still reach it. If no other way works either, the direct way is used, because the port may answer later.
 * @throws AgentError with the reasons of all ways
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

/** Permanent errors, until the configuration or the router changes; the control plane does not retry them. */
const LASTING: ReadonlySet<AgentErrorCode> = new Set(['not_allowed', 'unsupported', 'invalid']);

/** The error for all ways together: permanent only if all are. */
function allRefused(refusals: readonly Refusal[]): Error {
  const last = refusals.at(-1);
  if (!last) return new AgentError('unsupported', 'this router has no way for forwards: configure api or ssh');
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
 * A target that is the router itself is dialled at its configured address: its services listen on all of its addresses.
 * @throws AgentError `not_allowed`, `router_unreachable`
 */
async function openDirect(router: RouterAdapter, target: Target, { targetIsRouter, allow }: OpenContext): Promise<OpenedWay> {
  const actual = targetIsRouter ? { host: await allowedAddress(router.host, allow), port: target.port } : target;
  return { way: new DirectWay(actual), targetReachable: await answersTcp(actual, { timeoutMs: TARGET_CHECK_MS }) };
}

/** The first allowed address of the router. The checked address, not the name, is dialled. */
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
  const way = await DstNatWay.open({ ...context, router, target }, deadline);
  const targetReachable = await answersTcp(way.entry, { timeoutMs: TARGET_CHECK_MS });
  return { way, targetReachable, ...(way.failSafe === 'scheduler' ? {} : { reason: FAIL_SAFE_NOTES[way.failSafe] }) };
}

/** Notes for the person who created the forward. */
const FAIL_SAFE_NOTES = {
  'delayed script': 'device-mode forbids the scheduler, so after a reboot only the agent removes the rule',
  none: 'device-mode forbids the scheduler, so only the agent removes the rule',
} as const;

const SSH_FAIL_SAFE_NOTES = {
  'delayed script': 'device-mode forbids the scheduler, so after a reboot only the agent switches forwarding-enabled back',
  none: 'device-mode forbids the scheduler, so only the agent switches forwarding-enabled back',
} as const;

/**
 * Whether the target answers through this way.
 * @throws AgentError when the way itself does not work
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
