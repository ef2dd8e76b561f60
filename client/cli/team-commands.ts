import type { ListItem, ListOperation } from '../api-client.ts';
import type { Command } from './command.ts';
import { nameOf, siteNames } from './names.ts';
import type { Column } from './text.ts';
import { table } from './text.ts';

/** Agents, members, keys, sites and the audit log of the team. */

const agents: Command = {
  name: 'agents',
  summary: 'list the agents and their connection state',
  positionals: [],
  options: {},
  examples: ['agents', 'agents --json'],
  async run({ signalbox, surroundings: { signal, columns } }) {
    const found = await signalbox.all('listAgents', {}, { signal });
    const sites = found.some((agent) => agent.site_id !== null) ? await siteNames(signalbox, signal) : new Map<string, string>();
    const text = table(
      found,
      [
        ['ID', (agent) => agent.id],
        ['NAME', (agent) => agent.name],
        ['STATE', (agent) => agentState(agent)],
        ['SINCE', (agent) => (agent.connected ? agent.connected_at : (agent.revoked_at ?? agent.disconnected_at))],
        ['VERSION', (agent) => agent.version],
        ['SITE', (agent) => nameOf(sites, agent.site_id)],
      ],
      'no agents',
      columns,
    );
    return { json: found, text };
  },
};

function agentState(agent: { connected: boolean; revoked_at: string | null; connected_at: string | null }): string {
  if (agent.revoked_at !== null) return 'revoked';
  if (agent.connected) return 'connected';
  return agent.connected_at === null ? 'never connected' : 'disconnected';
}

const members = listing('members', 'list the members of the team', 'listMembers', 'no members', [
  ['ID', (member) => member.id],
  ['EMAIL', (member) => member.email],
  ['ROLE', (member) => member.role],
  ['ACTIVE', (member) => member.active],
  ['SINCE', (member) => member.created_at],
]);

const keys = listing('keys', 'list the API keys of the team', 'listApiKeys', 'no keys', [
  ['ID', (key) => key.id],
  ['NAME', (key) => key.name],
  ['ROLE', (key) => key.role],
  ['STATUS', (key) => key.status],
  ['CREATED', (key) => key.created_at],
  ['LAST USED', (key) => key.last_used_at],
  ['EXPIRES', (key) => key.expires_at],
]);

const sites = listing('sites', 'list the sites', 'listSites', 'no sites', [
  ['ID', (site) => site.id],
  ['NAME', (site) => site.name],
  ['TIME ZONE', (site) => site.time_zone],
  ['LATITUDE', (site) => site.latitude],
  ['LONGITUDE', (site) => site.longitude],
]);

const audit: Command = {
  name: 'audit',
  summary: 'list the audit log, newest first',
  positionals: [],
  options: {
    actor: { value: 'ID', help: 'only entries of this user or key, by id' },
    action: { value: 'TEXT', help: 'only this action, as in "POST /api/sites"' },
    since: { value: 'TIME', help: 'only entries from this time on: 2031-05-01T00:00:00Z' },
    until: { value: 'TIME', help: 'only entries before this time' },
    limit: { value: 'N', help: 'at most N entries; default: 50' },
  },
  examples: ['audit', 'audit --since 2031-05-01T00:00:00Z --limit 200'],
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const query: Record<string, string | number> = { limit: input.number('limit') ?? 50 };
    for (const name of ['actor', 'action', 'since', 'until']) {
      const value = input.option(name);
      if (value !== undefined) query[name] = value;
    }
    const { data } = await signalbox.call('listAuditEntries', { query }, { signal });
    const text = table(
      data,
      [
        ['TIME', (entry) => entry.at],
        ['ACTOR', (entry) => entry.actor_name ?? entry.actor_id],
        ['FROM', (entry) => entry.source],
        ['ACTION', (entry) => entry.action],
        ['TARGET', (entry) => entry.target],
        ['RESULT', (entry) => entry.result],
        ['DETAIL', (entry) => entry.detail],
      ],
      'no entries',
      columns,
    );
    return { json: data, text };
  },
};

/** A command that prints a complete list. */
function listing<Id extends ListOperation>(
  name: string,
  summary: string,
  operation: Id,
  none: string,
  columns: readonly Column<ListItem<Id>>[],
): Command {
  return {
    name,
    summary,
    positionals: [],
    options: {},
    examples: [name, `${name} --json`],
    async run({ signalbox, surroundings: { signal, columns: width } }) {
      const found = await signalbox.all(operation, {}, { signal });
      return { json: found, text: table(found, columns, none, width) };
    },
  };
}

export const agentListCommands: readonly Command[] = [agents];
export const teamCommands: readonly Command[] = [members, keys, sites, audit];
