import { INVITATION_PATH, linkTo } from '../access/teams/types.ts';
import { type Administration, type Command, type Input, type Result, UsageError } from './command.ts';
import { role, roleOf, TEAM, teamIdOf } from './options.ts';
import { ONCE, readFirstLine, warningsOf } from './password-file.ts';
import { OPERATOR } from '../access/teams/grantors/types.ts';

/** A new person becomes a member at once. A person with an account must consent, because the team gains power over that account. */
export const userCreate: Command = {
  name: 'user create',
  summary: 'add a user to a team; a person with an account is invited',
  positionals: ['EMAIL'],
  options: {
    team: TEAM,
    role: role('role in the team', true),
    'password-file': { value: 'F', help: 'file with the password in its first line; default: generate one' },
    invite: { value: '', help: 'print an invitation link; the user sets the password there', flag: true },
    'installation-admin': {
      value: '',
      help: 'also an administrator of the installation, who sees and drains control planes; for new accounts',
      flag: true,
    },
    'without-consent': {
      value: '',
      help: 'add a person with an account without an invitation; their present password then opens this team too',
      flag: true,
    },
  },
  async run(administration, input) {
    const isInvited = input.flag('invite');
    if (isInvited && input.flag('without-consent')) throw new UsageError('--invite and --without-consent exclude each other');
    if (isInvited && input.option('password-file') !== undefined)
      throw new UsageError('--password-file cannot be used with --invite: the user sets the password');
    if (isInvited && input.flag('installation-admin'))
      throw new UsageError('--installation-admin cannot be used with --invite: whoever opens the link would have it');
    const needsInvitation =
      isInvited ||
      (!input.flag('without-consent') && !input.flag('installation-admin') && (await administration.teams.hasAccount(input.need('EMAIL'))));
    return needsInvitation ? invite(administration, input) : create(administration, input);
  },
};

async function create(administration: Administration, input: Input): Promise<Result> {
  const teamId = await teamIdOf(administration, input);
  const file = input.option('password-file');
  const password = file === undefined ? undefined : await readFirstLine(file);
  const { member, generatedPassword } = await administration.teams.createUser({
    teamId,
    email: input.need('EMAIL'),
    role: roleOf(input)!,
    password,
    isInstallationAdmin: input.flag('installation-admin'),
  });
  const { userId: id, email } = member;
  const isAdmin = input.flag('installation-admin');
  const lines = [`user ${email}, ${member.role}${isAdmin ? ', administrator of the installation' : ''}: ${id}`];
  if (generatedPassword !== null) lines.push(`password: ${generatedPassword}`, ONCE);
  lines.push(...warningsOf(password, email));
  const { publicUrl } = administration.config;
  lines.push(`Sign in at ${publicUrl}`);
  if (generatedPassword !== null) lines.push(`Then choose a password that nobody has seen: ${publicUrl}/me`);
  return {
    json: { id, email, role: member.role, team_id: teamId, password: generatedPassword, ...(isAdmin ? { installation_admin: true } : {}) },
    lines,
  };
}

async function invite(administration: Administration, input: Input): Promise<Result> {
  const teamId = await teamIdOf(administration, input);
  const { invitation, code } = await administration.invitations.create({
    teamId,
    email: input.need('EMAIL'),
    role: roleOf(input)!,
    inviter: OPERATOR,
  });
  const url = linkTo(INVITATION_PATH, administration.config.publicUrl, code);
  const expiresAt = new Date(invitation.expiresAt).toISOString();
  const { id, email, role: offered } = invitation;
  const json = { id: null, email, role: offered, team_id: teamId, password: null, invitation: { id, url, expires_at: expiresAt } };
  return { json, lines: [`invitation of ${email}, ${offered}: ${id}`, url, `Valid for this person until ${expiresAt}.`, ONCE] };
}
