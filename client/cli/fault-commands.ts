import type { Fault } from '../generated.ts';
import type { Command, Context } from './command.ts';
import { identities } from './names.ts';
import { table } from './text.ts';

const faults: Command = {
  name: 'faults',
  summary: 'list the faults of a router or of all, open and resolved ones',
  positionals: ['[ROUTER]'],
  options: { open: { help: 'only open faults, as status counts them' } },
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
  return { json: found, text: `${table(found, COLUMNS, NONE, columns)}${resolvedNote(found)}` };
}

async function ofTeam({ signalbox, surroundings: { signal, columns } }: Context, query: Query) {
  const found = await signalbox.all('listTeamFaults', { query }, { signal });
  if (found.length === 0) return { json: found, text: `${NONE}\n` };
  const routers = await identities(signalbox, signal);
  const rows = table(found, [['ROUTER', (fault) => routers.get(fault.rid) ?? fault.rid], ...COLUMNS], NONE, columns);
  return { json: found, text: `${rows}${resolvedNote(found)}` };
}

/** `signalbox status` counts the open ones only. */
export function resolvedNote(faults: readonly Pick<Fault, 'status'>[]): string {
  const resolved = faults.filter(({ status }) => status === 'resolved').length;
  if (resolved === 0) return '';
  return `\n${faults.length - resolved} open, ${resolved} resolved. With --open, only the open ones are listed.\n`;
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
