import type { Command } from '../command.ts';
import { table } from '../text.ts';

export const channelsCommand: Command = {
  name: 'notify channels',
  summary: 'list by which channels this control plane can send, and what others need',
  positionals: [],
  options: {},
  examples: ['notify channels'],
  async run({ signalbox, surroundings: { signal, columns } }) {
    const { data } = await signalbox.call('listNotificationChannels', {}, { signal });
    const text = table(
      data.channels,
      [
        ['CHANNEL', ({ channel }) => channel],
        ['READY', ({ configured }) => configured],
        ['TO SET', ({ configured, settings }) => (configured ? '' : settings.join(', '))],
      ],
      'no channels',
      columns,
    );
    return { json: data, text };
  },
};
