import type { Command } from './command.ts';

/** Removal and replacement of routers and agents. */

const remove: Command = {
  name: 'router remove',
  summary: 'remove a router that no agent has, and keep its history',
  positionals: ['ROUTER'],
  options: { purge: { help: 'delete its jobs, backups, forwards and faults too' } },
  examples: ['router remove edge-berlin', 'router remove 01a1fb9c-376e-7279-a064-482cecad7b5b --purge'],
  async run({ signalbox, surroundings: { signal } }, input) {
    const query = input.isOn('purge') ? { purge: 'true' as const } : {};
    const { data } = await signalbox.call('removeRouter', { path: { router_id: input.at(0) }, query }, { signal });
    const unknown = data.jobs_unknown > 0 ? `, ${data.jobs_unknown} unknown` : '';
    return {
      json: data,
      text: `removed ${data.id}: ${data.forwards_closed} forwards closed, ${data.jobs_canceled} jobs canceled${unknown}\n`,
    };
  },
};

const replace: Command = {
  name: 'router replace',
  summary: 'continue the record of a router with new hardware',
  positionals: ['ROUTER'],
  options: {
    by: { value: 'ROUTER', help: 'the new hardware, by id or identity; its record merges into the old one', required: true },
    'keep-jobs': { help: 'run jobs that wait for the old hardware on the new hardware' },
  },
  examples: [
    'router replace edge-berlin --by MikroTik',
    'router replace edge-berlin --by 01a1fb9c-8888-7279-a064-482cecad7b5b --keep-jobs',
  ],
  async run({ signalbox, surroundings: { signal } }, input) {
    const { data: fresh } = await signalbox.call('getRouter', { path: { router_id: input.option('by') ?? '' } }, { signal });
    const body = { replaced_by: fresh.id, keep_jobs: input.isOn('keep-jobs') };
    const { data } = await signalbox.call('replaceRouter', { path: { router_id: input.at(0) }, body }, { signal });
    const hardware = `${data.former_serial_number ?? 'the old hardware'} by ${data.serial_number ?? 'the new hardware'}`;
    return { json: data, text: `replaced ${hardware} in ${data.id}: ${data.jobs_canceled} jobs canceled\n` };
  },
};

const revoke: Command = {
  name: 'agent revoke',
  summary: 'revoke an agent: refuse its credentials from now on',
  positionals: ['AGENT'],
  options: {},
  examples: ['agent revoke 01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35'],
  async run({ signalbox, surroundings: { signal } }, input) {
    await signalbox.call('revokeAgent', { path: { agent_id: input.at(0) } }, { signal });
    return { json: { id: input.at(0), revoked: true }, text: `revoked ${input.at(0)}\n` };
  },
};

const removeAgent: Command = {
  name: 'agent remove',
  summary: 'revoke and remove an agent, and the routers only it has',
  positionals: ['AGENT'],
  options: {},
  examples: ['agent remove 01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35'],
  async run({ signalbox, surroundings: { signal } }, input) {
    await signalbox.call('revokeAgent', { path: { agent_id: input.at(0) }, query: { remove: 'true' } }, { signal });
    return { json: { id: input.at(0), removed: true }, text: `removed ${input.at(0)} and its routers; their history stays readable\n` };
  },
};

const replaceAgent: Command = {
  name: 'agent replace',
  summary: 'create a token with which a new machine replaces an agent',
  positionals: ['AGENT'],
  options: {},
  examples: ['agent replace 01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35'],
  async run({ signalbox, surroundings: { signal } }, input) {
    const { data } = await signalbox.call('createEnrolToken', { body: { replaces_agent_id: input.at(0) } }, { signal });
    const text = [
      data.token,
      `The token is valid until ${data.expires_at}. On the new machine, run:`,
      '  signalbox-agent enrol --server URL --token TOKEN --credentials FILE',
      'The present agent works until the new one enrols; after that its credentials are refused.',
      'The token is shown only once.',
    ];
    return { json: data, text: `${text.join('\n')}\n` };
  },
};

export const routerRemovalCommands: readonly Command[] = [remove, replace];
export const agentRemovalCommands: readonly Command[] = [revoke, removeAgent, replaceAgent];
