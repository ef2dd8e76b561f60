import { TopicsService } from '../outbound/notifications/topics/service.ts';
import { systemClock } from '../platform/core/clock.ts';
import { exportDatabase, importDatabase } from '../platform/storage/portable.ts';
import { type Command, type Input, UsageError } from './command.ts';
import { identityCommands } from './identity-commands.ts';
import { nodeCommands } from './node-commands.ts';
import { role, roleOf, TEAM, teamIdOf } from './options.ts';
import { ONCE } from './password-file.ts';
import { userCreate } from './user-create.ts';
import { shellWord } from '../platform/core/shell-word.ts';
import { readRouterSetup, ROUTEROS_OPTIONS, setupLines, undoLines } from './router-setup/index.ts';

const DAY_MS = 24 * 3600 * 1000;
/** A hundred years. A larger number is a typing mistake: a key without the option never expires. */
const LONGEST_KEY_LIFE_DAYS = 36_500;

const teamCreate: Command = {
  name: 'team create',
  summary: 'create a team, the tenant that owns all records',
  positionals: ['NAME'],
  options: {},
  async run({ teams, storage }, input) {
    const { id, name } = await teams.createTeam(input.need('NAME'));
    await new TopicsService({ storage, clock: systemClock }).createFirst(id);
    const right = (await teams.hasAnyAccount()) ? '' : ' --installation-admin';
    const next = `Next: signalbox user create you@example.net --team ${shellWord(name)} --role admin${right}`;
    return { json: { id, name }, lines: [`team ${name}: ${id}`, next] };
  },
};

const keyCreate: Command = {
  name: 'key create',
  summary: 'create an API key for a team',
  positionals: [],
  options: {
    team: TEAM,
    name: { value: 'N', help: 'name of the key', required: true },
    role: role('role of the key; default: admin (everything in the team)', false),
    'expires-in-days': { value: 'N', help: 'days until the key expires; default: never', numeric: true },
  },
  async run(administration, input) {
    const teamId = await teamIdOf(administration, input);
    const { key, apiKey } = await administration.auth.createApiKey({
      teamId,
      name: input.need('name'),
      role: roleOf(input),
      createdBy: null,
      expiresAt: expiryOf(input),
    });
    const unchosen = roleOf(input) === undefined ? ['It may do everything in the team: --role names a lower role.'] : [];
    const json = { id: key.id, team_id: teamId, name: key.name, role: key.role, api_key: apiKey };
    return { json, lines: [`API key ${key.name}, ${key.role}: ${key.id}`, apiKey, ONCE, ...unchosen] };
  },
};

function expiryOf(input: Input): number | undefined {
  const days = input.number('expires-in-days');
  if (days === undefined) return undefined;
  if (days <= 0 || days > LONGEST_KEY_LIFE_DAYS)
    throw new UsageError(`--expires-in-days must be over 0 and at most ${LONGEST_KEY_LIFE_DAYS}`);
  return Date.now() + Math.round(days * DAY_MS);
}

const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'revoke an API key and end what it opened',
  positionals: ['ID'],
  options: {},
  async run({ auth }, input) {
    const id = input.need('ID');
    await auth.revokeApiKey(await auth.findTeamOfApiKey(id), id);
    const ends = [
      'The control plane ends its forwards, connections, pending jobs and campaigns within seconds.',
      'GET /api/revocations lists what has ended and what continues.',
    ];
    return { json: { id, revoked: true }, lines: [`API key ${id} is revoked`, ...ends] };
  },
};

const enrolTokenCreate: Command = {
  name: 'enrol-token create',
  summary: 'create a token that enrols one agent within 24 hours',
  positionals: [],
  options: {
    team: TEAM,
    site: { value: 'S', help: 'site of its routers, by id or name' },
    replaces: { value: 'AGENT', help: 'id of the agent that the new one replaces; at enrolment, the old credentials are revoked' },
    ...ROUTEROS_OPTIONS,
  },
  async run(administration, input) {
    const teamId = await teamIdOf(administration, input);
    const setup = readRouterSetup(input, administration.config.publicUrl);
    if (setup?.undo) return { json: { routeros: undoLines(setup) }, lines: undoLines(setup) };
    const siteName = input.option('site');
    const site = siteName === undefined ? null : await administration.sites.find(teamId, siteName);
    const { record, token } = await administration.auth.createEnrolToken({
      teamId,
      siteId: site?.id ?? null,
      replacesAgentId: input.option('replaces'),
    });
    const expiresAt = new Date(record.expiresAt).toISOString();
    const json = { id: record.id, token, expires_at: expiresAt };
    if (setup === undefined) return { json, lines: [token, `Enrols one agent until ${expiresAt}.`, ONCE] };
    const routeros = setupLines({ ...setup, enrolToken: token });
    return { json: { ...json, routeros }, lines: [...routeros, `# The token in these lines enrols one agent until ${expiresAt}.`] };
  },
};

const enrolTokenList: Command = {
  name: 'enrol-token list',
  summary: 'list the enrolment tokens of a team, newest first',
  positionals: [],
  options: { team: TEAM },
  async run(administration, input) {
    const { auth } = administration;
    const tokens = (await auth.listEnrolTokens(await teamIdOf(administration, input))).map((token) => ({
      id: token.id,
      status: auth.enrolTokenStatus(token),
      created_at: new Date(token.createdAt).toISOString(),
      expires_at: new Date(token.expiresAt).toISOString(),
      site_id: token.siteId,
      agent_id: token.agentId,
    }));
    return { json: { tokens }, lines: tokens.map(({ id, status, expires_at: end }) => `${id}  ${status.padEnd(8)} until ${end}`) };
  },
};

const enrolTokenRevoke: Command = {
  name: 'enrol-token revoke',
  summary: 'revoke an enrolment token',
  positionals: ['ID'],
  options: {},
  async run({ auth }, input) {
    const id = input.need('ID');
    await auth.revokeEnrolToken(await auth.findTeamOfEnrolToken(id), id);
    return { json: { id, revoked: true }, lines: [`enrolment token ${id} is revoked`] };
  },
};

const serviceTokenCreate: Command = {
  name: 'service-token create',
  summary: 'create a token for a back-end service (/internal only)',
  positionals: ['NAME'],
  options: {},
  async run({ auth }, input) {
    const { record, token } = await auth.createServiceToken(input.need('NAME'));
    return { json: { id: record.id, name: record.name, token }, lines: [`service token ${record.name}: ${record.id}`, token, ONCE] };
  },
};

const serviceTokenRevoke: Command = {
  name: 'service-token revoke',
  summary: 'revoke a service token',
  positionals: ['ID'],
  options: {},
  async run({ auth }, input) {
    const id = input.need('ID');
    await auth.revokeServiceToken(id);
    return { json: { id, revoked: true }, lines: [`service token ${id} is revoked`] };
  },
};

const siteCreate: Command = {
  name: 'site create',
  summary: 'create a site for routers',
  positionals: ['NAME'],
  options: {
    team: TEAM,
    'time-zone': { value: 'Z', help: 'IANA time zone, such as Europe/Madrid' },
    latitude: { value: 'DEG', help: 'degrees, north is positive', numeric: true },
    longitude: { value: 'DEG', help: 'degrees, east is positive', numeric: true },
  },
  async run(administration, input) {
    const { id, teamId, name, timeZone, latitude, longitude } = await administration.sites.create({
      teamId: await teamIdOf(administration, input),
      name: input.need('NAME'),
      timeZone: input.option('time-zone'),
      latitude: input.number('latitude'),
      longitude: input.number('longitude'),
    });
    return { json: { id, team_id: teamId, name, time_zone: timeZone, latitude, longitude }, lines: [`site ${name}: ${id}`] };
  },
};

const exportAll: Command = {
  name: 'export',
  summary: 'write the whole database to a new file',
  positionals: ['FILE'],
  options: {},
  async run({ storage, config }, input) {
    const file = input.need('FILE');
    const rows = await exportDatabase(storage, file, new Date());
    return {
      json: { file, rows },
      lines: [`${rows} rows written to ${file}`, `The file does not contain the secret key: keep ${config.secretKeyFile} with it.`],
    };
  },
};

const importAll: Command = {
  name: 'import',
  summary: 'read an export into an empty database, SQLite or PostgreSQL',
  positionals: ['FILE'],
  options: {},
  async run({ storage, log }, input) {
    const file = input.need('FILE');
    const rows = await importDatabase(storage, file, log);
    return { json: { file, rows }, lines: [`${rows} rows read from ${file}`] };
  },
};

export const commands: readonly Command[] = [
  teamCreate,
  userCreate,
  keyCreate,
  keyRevoke,
  enrolTokenCreate,
  enrolTokenList,
  enrolTokenRevoke,
  serviceTokenCreate,
  serviceTokenRevoke,
  siteCreate,
  ...identityCommands,
  ...nodeCommands,
  exportAll,
  importAll,
];
