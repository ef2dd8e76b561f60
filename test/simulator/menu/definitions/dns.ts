import { resolveName } from '../../reachable.ts';
import type { CustomCommand } from '../definition.ts';
import { Trap } from '../types.ts';

/** `:resolve name`: gives the address, or fails like a DNS server that does not know it. */
export const resolve: CustomCommand = {
  parameters: ['domain-name', 'server', 'server-port', 'type'],
  policies: ['read'],
  run({ router, call }) {
    const name = call.attributes.get('domain-name');
    if (name === undefined) throw new Trap('missing =domain-name=');
    const address = resolveName(router, name);
    if (address === undefined) throw new Trap('failure: dns name does not exist');
    return { rows: [], ret: address };
  },
};
