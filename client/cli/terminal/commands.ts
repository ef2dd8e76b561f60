import { ProblemError } from '../../errors.ts';
import type { Terminal, TerminalWithTicket } from '../../generated.ts';
import { UsageError } from '../command.ts';
import type { Command, Context, Outcome, RawTerminal } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { identities } from '../names.ts';
import { printable, table } from '../text.ts';
import { runSession } from './session.ts';
import type { SessionEnd } from './session.ts';

/** The agent logs in to the router first. */
const ANSWER_MS = 60_000;

const LEVELS = ['read', 'full'] as const;

const terminal: Command = {
  name: 'terminal',
  summary: 'open a shell on a router; it is recorded',
  positionals: ['ROUTER'],
  options: {
    level: { value: 'LEVEL', help: 'read (default) or full' },
    reason: { value: 'TEXT', help: 'why; the team sees it. Asked for if missing' },
  },
  examples: [
    'terminal edge-berlin --reason "ticket 4711: the uplink drops"',
    'terminal edge-berlin --level full --reason "ticket 4711: new MTU"',
  ],
  async run(context, input) {
    const raw = context.surroundings.terminal;
    if (!raw) throw new UsageError('a terminal needs a terminal: use run or job in scripts');
    const level = LEVELS.find((each) => each === (input.option('level') ?? 'read'));
    if (!level) throw new UsageError('--level must be read or full');
    const reason = input.option('reason') ?? (await raw.ask('Reason (the team sees it): '));
    const opened = await openOrFind(context, input.at(0), { level, reason, ...sizeOf(raw) });
    context.surroundings.stderr(`recorded; at the beginning of a line ~. ends this terminal and ~& leaves it open\n`);
    const end = await runSession(context, raw, opened);
    if (end.kind === 'asked') await context.signalbox.call('endTerminal', { path: { terminal_id: opened.id } });
    return outcomeOf(opened, end);
  },
};

function sizeOf(raw: RawTerminal): { cols: number; rows: number } {
  const { columns: cols, rows } = raw.size();
  return { cols, rows };
}

interface Wanted {
  level: (typeof LEVELS)[number];
  reason: string;
  cols: number;
  rows: number;
}

/** Opens a terminal, or attaches to the one that this key has open on the router. */
async function openOrFind({ signalbox, surroundings }: Context, router: string, wanted: Wanted): Promise<TerminalWithTicket> {
  const { signal } = surroundings;
  try {
    return (await signalbox.call('openTerminal', { path: { router_id: router }, body: wanted }, { signal, timeoutMs: ANSWER_MS })).data;
  } catch (error) {
    if (!(error instanceof ProblemError && error.code === 'conflict')) throw error;
    const own = await findOwn({ signalbox, signal }, router);
    if (!own) throw error;
    surroundings.stderr(`you have a terminal of the level ${own.level} open on this router: attaching to it\n`);
    return (await signalbox.call('createTerminalTicket', { path: { terminal_id: own.id } }, { signal })).data;
  }
}

async function findOwn(
  { signalbox, signal }: Pick<Context, 'signalbox'> & { signal: AbortSignal },
  router: string,
): Promise<Terminal | undefined> {
  const { data: me } = await signalbox.call('whoAmI', {}, { signal });
  const { id } = (await signalbox.call('getRouter', { path: { router_id: router } }, { signal })).data;
  const open = await signalbox.all('listTerminals', { query: { status: 'open', router_id: id, opened_by: me.id } }, { signal });
  return open[0];
}

function outcomeOf({ id }: Terminal, end: SessionEnd): Outcome {
  if (end.kind === 'asked') return { json: { id, end: 'closed' }, text: '\nthe terminal is ended\n' };
  if (end.kind === 'left') return { json: { id, end: null }, text: `\nthe terminal stays open for five minutes: ${id}\n` };
  const { reason, message } = end;
  const exitCode = reason === 'exited' ? EXIT.ok : reason === 'agent_away' || reason === 'router_lost' ? EXIT.notConnected : EXIT.failed;
  const text = reason === 'exited' ? '\n' : `\nthe terminal has ended: ${printable(message)}\n`;
  return { json: { id, end: reason }, text, exitCode };
}

const terminals: Command = {
  name: 'terminals',
  summary: 'list open terminals, or end one',
  positionals: [],
  options: {
    all: { help: 'also those that have ended' },
    end: { value: 'ID', help: 'end this terminal: your own, or any as an administrator' },
  },
  examples: ['terminals', 'terminals --all', 'terminals --end 01a1fba0-5b1e-7354-a8b1-996d0b28db1a'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const id = input.option('end');
    if (id !== undefined) {
      await signalbox.call('endTerminal', { path: { terminal_id: id } }, { signal });
      return { json: { id }, text: `terminal ${id} is ended\n` };
    }
    const query = input.isOn('all') ? {} : { status: 'open' as const };
    const found = await signalbox.all('listTerminals', { query }, { signal });
    const routers = found.length === 0 ? new Map<string, string>() : await identities(signalbox, signal);
    return { json: found, text: table(found, columnsOf(routers), 'no terminals', columns) };
  },
};

function columnsOf(routers: ReadonlyMap<string, string>) {
  return [
    ['ID', (row: Terminal) => row.id],
    ['ROUTER', (row: Terminal) => routers.get(row.router_id) ?? row.router_id],
    ['LEVEL', (row: Terminal) => row.level],
    ['SINCE', (row: Terminal) => row.created_at],
    ['STATUS', (row: Terminal) => (row.status === 'open' ? (row.attached ? 'attached' : 'waiting') : row.end_reason)],
    ['REASON', (row: Terminal) => row.reason],
  ] as const;
}

export const terminalCommands: readonly Command[] = [terminals, terminal];
