/** The fate of connections to the router itself, limited to what a lock-out needs: rules, services, address, interface. */
import { matchesAddress } from './addresses.ts';
import { decidingRule, type Packet } from './rules.ts';
import type { ServiceName } from './sessions.ts';
import type { RouterState } from './state.ts';

/** accept: served; drop: the packets vanish; reject: the client gets a reset. */
export type Verdict = 'accept' | 'drop' | 'reject';

export interface ArrivingPacket {
  service: ServiceName;
  remoteAddress: string;
  state: 'new' | 'established';
}

const VERDICTS: Readonly<Record<string, Verdict>> = {
  accept: 'accept',
  drop: 'drop',
  tarpit: 'drop',
  reject: 'reject',
  'fasttrack-connection': 'accept',
};

export function inputVerdict(router: RouterState, arriving: ArrivingPacket): Verdict {
  if (!hasManagementAddress(router)) return 'drop';
  const service = router.table('/ip/service').find('name', arriving.service)?.values;
  const packet = arrivingAt(router, Number(service?.get('port') ?? '0'), arriving);
  const rule = decidingRule(router, '/ip/firewall/filter', 'input', packet, (action) => action in VERDICTS);
  const verdict = VERDICTS[rule?.values.get('action') ?? 'accept'] ?? 'accept';
  if (verdict !== 'accept') return verdict;
  return arriving.state === 'new' && isCrowded(router, arriving.service) ? 'reject' : serviceVerdict(service, arriving.remoteAddress);
}

/** `/ip/service max-sessions`, from 7.16. */
function isCrowded(router: RouterState, service: ServiceName): boolean {
  if (!router.version.atLeast('7.16')) return false;
  const most = Number(router.table('/ip/service').find('name', service)?.values.get('max-sessions') ?? '20');
  return router.sessions.list().filter((each) => each.session.service === service).length >= most;
}

/** A client's packet as the router sees it come in: always over the management interface. */
export function arrivingAt(router: RouterState, dstPort: number, from: { remoteAddress: string; state: 'new' | 'established' }): Packet {
  return {
    protocol: 'tcp',
    srcAddress: from.remoteAddress,
    dstAddress: router.options.managementAddress,
    dstPort,
    inInterface: router.options.managementInterface,
    outInterface: undefined,
    state: from.state,
    dstNatted: false,
  };
}

/** The address clients use must be there, enabled, on an interface that is up. */
function hasManagementAddress(router: RouterState): boolean {
  const { managementAddress } = router.options;
  return router.table('/ip/address').items.some(({ values }) => {
    const isIt = values.get('address')?.split('/')[0] === managementAddress && values.get('disabled') !== 'true';
    const link = router.table('/interface').find('name', values.get('interface') ?? '');
    return isIt && link !== undefined && link.values.get('disabled') !== 'true';
  });
}

function serviceVerdict(service: ReadonlyMap<string, string> | undefined, remoteAddress: string): Verdict {
  if (!service || service.get('disabled') === 'true') return 'reject';
  const networks = (service.get('address') ?? '').split(',').filter((network) => network !== '');
  const allowed = networks.length === 0 || networks.some((network) => matchesAddress(network, remoteAddress));
  return allowed ? 'accept' : 'reject';
}

/** Applies changed rules, services, addresses and users to the sessions that are open. */
export function recheckSessions(router: RouterState): void {
  for (const { session } of router.sessions.list()) {
    const verdict = inputVerdict(router, { service: session.service, remoteAddress: session.remoteAddress, state: 'established' });
    if (verdict === 'drop') session.blackhole();
    else if (verdict === 'reject' || !isStillUser(router, session.user)) session.close(false);
    else session.reappear?.();
  }
}

function isStillUser(router: RouterState, user: string | undefined): boolean {
  if (user === undefined) return true;
  const values = router.table('/user').find('name', user)?.values;
  return values !== undefined && values.get('disabled') !== 'true';
}
