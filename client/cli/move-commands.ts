import type { Command } from './command.ts';
import { table } from './text.ts';

/** Router moves: an agent reports a router that belongs to another agent, and a person decides. */

const list: Command = {
  name: 'router-moves',
  summary: 'list pending and refused router moves, newest first',
  positionals: [],
  options: {},
  examples: ['router-moves', 'router-moves --json'],
  async run({ signalbox, surroundings: { signal, columns } }) {
    const found = await signalbox.all('listRouterMoves', {}, { signal });
    const text = table(
      found,
      [
        ['ID', (move) => move.id],
        ['STATE', (move) => move.state],
        ['ROUTER', (move) => move.identity],
        ['HARDWARE', (move) => move.hardware_id],
        ['FROM AGENT', (move) => move.from_agent.name],
        ['TO AGENT', (move) => move.to_agent.name],
        ['NEW NAME', (move) => move.to_name],
        ['ADDRESS', (move) => move.to_address],
        ['SINCE', (move) => move.created_at],
      ],
      'no router moves',
      columns,
    );
    return { json: found, text };
  },
};

const EXAMPLE_ID = '01a1fb9e-0d17-7c67-8668-501e0fbecc7f';

function decision(verb: 'approve' | 'refuse', summary: string, confirmation: string): Command {
  return {
    name: `router-move ${verb}`,
    summary,
    positionals: ['ID'],
    options: {},
    examples: [`router-move ${verb} ${EXAMPLE_ID}`],
    async run({ signalbox, surroundings: { signal } }, input) {
      const operation = verb === 'approve' ? 'approveRouterMove' : 'refuseRouterMove';
      const { data } = await signalbox.call(operation, { path: { move_id: input.at(0) } }, { signal });
      return { json: data, text: `${confirmation}\n` };
    },
  };
}

export const moveCommands: readonly Command[] = [
  list,
  decision('approve', 'move the router to the agent that reports it', 'approved: the router moves to the agent that reports it'),
  decision('refuse', 'leave the router with its present agent', 'refused: the router stays with its present agent'),
];
