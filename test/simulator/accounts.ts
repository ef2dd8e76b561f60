/** Users and their rights. */
import { matchesAddress } from './addresses.ts';
import { proves, type Proof } from './api/login.ts';
import { formatDateTime } from './formats.ts';
import type { RouterState } from './state.ts';

/** The result of a successful login. */
export interface Account {
  user: string;
  policies: ReadonlySet<string>;
}

export interface LoginOrigin {
  via: 'api' | 'ssh';
  address: string;
}

export function policiesOf(router: RouterState, user: string): ReadonlySet<string> {
  const group = router.table('/user').find('name', user)?.values.get('group') ?? '';
  const policy = router.table('/user/group').find('name', group)?.values.get('policy') ?? '';
  const granted = policy.split(',').filter((name) => name !== '' && !name.startsWith('!'));
  return new Set(granted.filter((name) => !router.faults.missingPolicies.has(name)));
}

/** The user's record if he may come in this way: enabled, right network, policy for the service. */
function mayEnter(router: RouterState, user: string, from: LoginOrigin): ReadonlyMap<string, string> | undefined {
  const values = router.table('/user').find('name', user)?.values;
  if (!values || values.get('disabled') === 'true' || !policiesOf(router, user).has(from.via)) return undefined;
  const networks = (values.get('address') ?? '').split(',').filter((network) => network !== '');
  const allowed = networks.length === 0 || networks.some((network) => matchesAddress(network, from.address));
  return allowed ? values : undefined;
}

export function authenticate(router: RouterState, user: string, proof: Proof, from: LoginOrigin): Account | undefined {
  const record = mayEnter(router, user, from);
  if (record && proves(proof, record.get('password') ?? '')) return recordLogin(router, user, from);
  router.log('system,error,critical', `login failure for user ${user} from ${from.address} via ${from.via}`);
  return undefined;
}

/** A user proved by other means (a public key) enters. Undefined when he may not. */
export function recordLogin(router: RouterState, user: string, from: LoginOrigin): Account | undefined {
  if (!mayEnter(router, user, from)) return undefined;
  const table = router.table('/user');
  const item = table.find('name', user);
  if (item) table.update(item, [['last-logged-in', formatDateTime(router.version, router.clock.wallMs())]]);
  router.log('system,info,account', `user ${user} logged in from ${from.address} via ${from.via}`);
  return { user, policies: policiesOf(router, user) };
}
