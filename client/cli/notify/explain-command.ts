import type { ExplainedGroup } from '../../generated.ts';
import type { Command } from '../command.ts';
import { routerId } from '../names.ts';
import { table } from '../text.ts';
import type { Column } from '../text.ts';
import { stateOf, WHO } from './columns.ts';

type Line = ExplainedGroup['recipients'][number] & { group: string };

const COLUMNS: readonly Column<Line>[] = [['GROUP', ({ group }) => group], ...WHO, ['STATE', stateOf], ['UNTIL', ({ until }) => until, 1]];

export const explainCommand: Command = {
  name: 'notify explain',
  summary: 'show who would be told of a fact, and why the others would not',
  positionals: ['KIND', '[ROUTER]'],
  options: { at: { value: 'TIME', help: 'when it is told, such as 2031-05-01T23:30:00Z; default: now' } },
  examples: ['notify explain fault.wan_down edge-berlin', 'notify explain job.failed edge-berlin --at 2031-05-01T23:30:00Z'],
  async run({ signalbox, surroundings }, input) {
    const [router, at] = [input.optional(1), input.option('at')];
    const body = {
      kind: input.at(0),
      ...(router === undefined ? {} : { router_id: await routerId(signalbox, surroundings.signal, router) }),
      ...(at === undefined ? {} : { at }),
    };
    const { data } = await signalbox.call('explainNotification', { body }, surroundings);
    return { json: data, text: table(data.flatMap(linesOf), COLUMNS, 'no groups', surroundings.columns) };
  },
};

/** One line for a group of which nobody would get anything. */
function linesOf({ group, recipients, hears, reason, until }: ExplainedGroup): Line[] {
  if (recipients.length > 0) return recipients.map((line) => ({ ...line, group }));
  const nobody = { user_id: null, target_id: null, target: null, channel: '', address: null, state: 'withheld' as const };
  return [{ ...nobody, group, reason: hears ? 'no_recipients' : reason, until }];
}
