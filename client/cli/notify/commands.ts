import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { groupId } from '../names.ts';
import { table } from '../text.ts';
import { answerOf, stateOf, WHO } from './columns.ts';
import { channelsCommand } from './channels-command.ts';
import { explainCommand } from './explain-command.ts';
import { logCommand } from './log-command.ts';
import { silenceCommands } from './silence-commands.ts';
import { threadCommands } from './thread-commands.ts';

const test: Command = {
  name: 'notify test',
  summary: 'send a test to everybody in a notification group, and show who got it',
  positionals: ['GROUP'],
  options: {},
  examples: ['notify test "On call"', 'notify test 01a1fb9e-0d17-7c67-8668-501e0fbecc7f --json'],
  async run({ signalbox, surroundings }, input) {
    const { signal, columns } = surroundings;
    const path = { group_id: await groupId(signalbox, signal, input.at(0)) };
    const { data } = await signalbox.call('testGroup', { path }, surroundings);
    const { messages } = data;
    const text = table(messages, [...WHO, ['STATE', stateOf], ['ANSWER', answerOf]], 'the group names nobody', columns);
    // An address that two lines lead to gets it once.
    const isReached = messages.length > 0 && messages.every(({ state, reason }) => state === 'sent' || reason === 'duplicate');
    return { json: data, text, exitCode: isReached ? EXIT.ok : EXIT.failed };
  },
};

export const notifyCommands: readonly Command[] = [
  test,
  channelsCommand,
  logCommand,
  ...threadCommands,
  explainCommand,
  ...silenceCommands,
];
