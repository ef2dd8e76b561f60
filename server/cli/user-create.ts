import { INVITATION_PATH, linkTo } from '../access/teams/types.ts';
import { type Administration, type Command, type Input, type Result, UsageError } from './command.ts';
import { role, roleOf, TEAM, teamIdOf } from './options.ts';
import { ONCE, readFirstLine } from './password-file.ts';
import { OPERATOR } from '../access/teams/grantors/types.ts';

/** Somebody new becomes a member at once; somebody with an account is asked first, because the team would get at their sign-in. */
export const userCreate: Command = {
  name: 'user create',
  summary: 'make a person a member of a team; somebody who has an account already is invited',
  positionals: ['EMAIL'],
  options: {
    team: TEAM,
    role: role('what they may do', true),
    'password-file': { value: 'F', help: 'first line is the password; generated when missing' },
    invite: { value: '', help: 'print a link with which the person joins and sets their own password', flag: true },
    'without-consent': {
      value: '',
      help: 'make somebody who has an account a member without asking them; whoever knows their password gets into this team too',
      flag: true,
    },
  },
  async run(administration, input) {
    const isInvited = input.flag('invite');
    if (isInvited && input.flag('without-consent'))
      throw new UsageError('--invite asks the person, --without-consent does not: only one of them');
    if (isInvited && input.option('password-file') !== undefined)
      throw new UsageError('--invite lets the person set the password: --password-file makes no sense');
    const mustAsk = isInvited || (!input.flag('without-consent') && (await administration.teams.hasAccount(input.need('EMAIL'))));
    return mustAsk ? invite(administration, input) : create(administration, input);
  },
};

async function create(administration: Administration, input: Input): Promise<Result> {
  const teamId = await teamIdOf(administration, input);
  const file = input.option('password-file');
  const { member, generatedPassword } = await administration.teams.createUser({
    teamId,
    email: input.need('EMAIL'),
    role: roleOf(input)!,
    password: file === undefined ? undefined : await readFirstLine(file),
  });
  const { userId: id, email } = member;
  const lines = [`user ${email}, ${member.role}: ${id}`];
  if (generatedPassword !== null) lines.push(`password: ${generatedPassword}`, ONCE);
  return { json: { id, email, role: member.role, team_id: teamId, password: generatedPassword }, lines };
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
  return { json, lines: [`invitation of ${email}, ${offered}: ${id}`, url, `For this person, until ${expiresAt}.`, ONCE] };
}
