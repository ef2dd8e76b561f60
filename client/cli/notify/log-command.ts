import type { Notification, Operations } from '../../generated.ts';
import type { Command } from '../command.ts';
import { groupId, routerId } from '../names.ts';
import { table } from '../text.ts';
import type { Column } from '../text.ts';
import { answerOf, deliveryOf, LIMIT, moreText, pageOf, WHO, wordsOf } from './columns.ts';

type Query = NonNullable<Operations['listNotifications']['input']['query']>;

const COLUMNS: readonly Column<Notification>[] = [
  ['AT', ({ created_at: at }) => at],
  ['GROUP', ({ group }) => group, 2],
  ...WHO,
  ['SAYS', ({ subject }) => subject],
  ['STATE', deliveryOf],
  ['ANSWER', answerOf, 1],
];

export const logCommand: Command = {
  name: 'notify log',
  summary: 'show what was told to whom, and what was not and why, newest first',
  positionals: [],
  options: {
    recipient: { value: 'ID', help: 'only this person or notification target' },
    group: { value: 'GROUP', help: 'only this group, by id or name' },
    router: { value: 'ROUTER', help: 'only what is about this router' },
    state: { value: 'S', help: 'only these: pending, held, sent, withheld, superseded, failed; ! leaves one out' },
    reason: { value: 'R', help: 'only these: muted, silenced, unverified …; ! leaves one out' },
    channel: { value: 'C', help: 'only these: email, slack …; ! leaves one out' },
    limit: LIMIT,
  },
  examples: ['notify log', 'notify log --state "!sent"', 'notify log --group "On call" --reason muted,silenced --json'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const query: Query = pageOf(input);
    const [recipient, group, router] = ['recipient', 'group', 'router'].map((name) => input.option(name));
    if (recipient !== undefined) query.recipient = recipient;
    if (group !== undefined) query.group_id = await groupId(signalbox, signal, group);
    if (router !== undefined) query.router_id = await routerId(signalbox, signal, router);
    const [state, reason, channel] = ['state', 'reason', 'channel'].map((name) => wordsOf(input, name));
    // The control plane names the words that it does not know.
    if (state !== undefined) query.state = state as NonNullable<Query['state']>;
    if (reason !== undefined) query.reason = reason;
    if (channel !== undefined) query.channel = channel;
    const { data, ...found } = await signalbox.call('listNotifications', { query }, { signal });
    return { json: data, text: table(data, COLUMNS, 'no messages', columns) + moreText(data.length, found, 'messages') };
  },
};
