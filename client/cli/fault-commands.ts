import type { Fault } from '../generated.ts';
import type { Command, Context } from './command.ts';
import { identities } from './names.ts';
import { table } from './text.ts';

const faults: Command = {
  name: 'faults',
  summary: 'list the faults of one router or of all routers',
  positionals: ['[ROUTER]'],
  options: { open: { help: 'only open faults' } },
  examples: ['faults --open', 'faults edge-berlin'],
  async run(context, input) {
    const query = input.isOn('open') ? { status: 'open' as const } : {};
    const router = input.optional(0);
    return router === undefined ? ofTeam(context, query) : ofRouter(context, router, query);
  },
};

type Query = { status?: 'open' };

async function ofRouter({ signalbox, surroundings: { signal, columns } }: Context, router: string, query: Query) {
  const found = await signalbox.all('listFaults', { path: { router_id: router }, query }, { signal });
  return { json: found, text: table(found, COLUMNS, NONE, columns) };
}

async function ofTeam({ signalbox, surroundings: { signal, columns } }: Context, query: Query) {
  const found = await signalbox.all('listTeamFaults', { query }, { signal });
  if (found.length === 0) return { json: found, text: `${NONE}\n` };
  const routers = await identities(signalbox, signal);
  return { json: found, text: table(found, [['ROUTER', (fault) => routers.get(fault.rid) ?? fault.rid], ...COLUMNS], NONE, columns) };
}

const NONE = 'no faults';

const COLUMNS = [
  ['SINCE', (fault: Fault) => fault.created_at],
  ['STATUS', (fault: Fault) => fault.status],
  ['SEVERITY', (fault: Fault) => fault.severity],
  ['TYPE', (fault: Fault) => fault.type],
  ['MESSAGE', (fault: Fault) => fault.message],
  ['CAUSE', (fault: Fault) => fault.cause],
] as const;

export const faultCommands: readonly Command[] = [faults];
