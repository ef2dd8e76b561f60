import { systemClock } from '../platform/core/clock.ts';
import { ProviderKeyring } from '../access/identity/keys/service.ts';
import type { SigningKeyState } from '../access/identity/keys/service.ts';
import { forgetSecrets, openSecretsOf } from '../platform/storage/stored-secrets.ts';
import type { Administration, Command } from './command.ts';
import { ONCE, readFirstLine, warningsOf } from './password-file.ts';

const SOON = 'A running server uses it within half a minute.';

async function keyringOf({ config, storage }: Administration): Promise<ProviderKeyring> {
  return new ProviderKeyring({ storage, clock: systemClock, secrets: await openSecretsOf(storage, config.secretKeyFile) });
}

function shown({ id, state, createdAt, activeAt }: SigningKeyState): Record<string, unknown> {
  return { id, state, created_at: new Date(createdAt).toISOString(), active_at: new Date(activeAt).toISOString() };
}

const signingKeyList: Command = {
  name: 'signing-key list',
  summary: 'list the keys that sign user sessions',
  positionals: [],
  options: {},
  async run(administration) {
    const keys = await (await keyringOf(administration)).list();
    const lines = keys.map(({ id, state, activeAt }) => `${id}  ${state}, from ${new Date(activeAt).toISOString()}`);
    return { json: { keys: keys.map(shown) }, lines: lines.length > 0 ? lines : ['No key yet: the first start creates one.'] };
  },
};

const signingKeyRotate: Command = {
  name: 'signing-key rotate',
  summary: 'create the next signing key; it signs after 15 minutes',
  positionals: [],
  options: {},
  async run(administration) {
    const key = await (await keyringOf(administration)).rotate();
    const lines = [`signing key ${key.id}: published now, signs from ${new Date(key.activeAt).toISOString()}`, SOON];
    return { json: shown(key), lines };
  },
};

const signingKeyReplace: Command = {
  name: 'signing-key replace',
  summary: 'replace leaked signing keys; refuse what they signed',
  positionals: [],
  options: {},
  async run(administration) {
    const key = await (await keyringOf(administration)).replace();
    return { json: shown(key), lines: [`signing key ${key.id} replaces all others`, SOON] };
  },
};

const userPassword: Command = {
  name: 'user password',
  summary: 'set a new password for a user and end all their sessions',
  positionals: ['EMAIL'],
  options: { 'password-file': { value: 'F', help: 'file with the password in its first line; default: generate one' } },
  async run({ teams }, input) {
    const file = input.option('password-file');
    const given = file === undefined ? undefined : await readFirstLine(file);
    const { userId: id, generatedPassword: password } = await teams.replacePassword(input.need('EMAIL'), given);
    const lines = [`the password of ${input.need('EMAIL')} is changed`];
    if (password !== null) lines.push(`password: ${password}`, ONCE);
    lines.push(...warningsOf(given, input.need('EMAIL')));
    return { json: { id, password }, lines };
  },
};

const userInstallationAdmin: Command = {
  name: 'user installation-admin',
  summary: 'have a user see and drain the control planes, or no longer',
  positionals: ['EMAIL'],
  options: { remove: { value: '', help: 'take the right away', flag: true } },
  async run({ teams }, input) {
    const isAdmin = !input.flag('remove');
    const email = input.need('EMAIL');
    const { userId: id, hasPassword, memberships } = await teams.setInstallationAdmin(email, isAdmin);
    const lines = [`${email} ${isAdmin ? 'is an administrator of the installation' : 'does not administer the installation any more'}`];
    if (isAdmin) {
      const inTeams = await Promise.all(memberships.map(async ({ teamId, role }) => `${(await teams.findTeam(teamId)).name} (${role})`));
      lines.push(inTeams.length === 0 ? 'In no team: cannot sign in.' : `In the teams: ${inTeams.join(', ')}`);
      if (hasPassword) lines.push(`Whoever invited the person may have chosen the password. To be sure: signalbox user password ${email}`);
    }
    return { json: { id, installation_admin: isAdmin }, lines };
  },
};

const secretKeyForget: Command = {
  name: 'secret-key forget',
  summary: 'after losing the secret key file: delete what it encrypts',
  positionals: [],
  options: { confirm: { value: 'LOST', help: 'type LOST to confirm: this cannot be undone', required: true, choices: ['LOST'] } },
  async run({ storage, config }) {
    const { signingKeys, sessions, webhookSecrets, backups, recordings, targets, contacts } = await forgetSecrets(
      storage,
      systemClock.now(),
    );
    return {
      json: { signing_keys: signingKeys, sessions, webhook_secrets: webhookSecrets, backups, recordings, targets, contacts },
      lines: [
        `deleted: ${signingKeys} signing keys, ${sessions} sessions, ${webhookSecrets} webhook secrets, the files of ${backups} backups, ` +
          `the recordings of ${recordings} terminals, ${targets} notification targets, ${contacts} addresses of people`,
        `The next start creates ${config.secretKeyFile}. Users must sign in again; each team must create a new webhook secret and its notification targets, and people their addresses.`,
      ],
    };
  },
};

export const identityCommands: readonly Command[] = [
  userPassword,
  userInstallationAdmin,
  signingKeyList,
  signingKeyRotate,
  signingKeyReplace,
  secretKeyForget,
];
