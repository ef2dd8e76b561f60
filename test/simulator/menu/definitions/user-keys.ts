import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuContext } from '../definition.ts';
import type { ItemTable } from '../table.ts';
import { Trap, type CommandResult } from '../types.ts';

const BAD_KEY = 'unable to load key file (wrong format or bad passphrase)!';

interface PublicKey {
  type: 'rsa' | 'ed25519';
  bits: string;
  owner: string;
  line: string;
}

/** Reads an OpenSSH public key line. RSA always, ed25519 from 7.12, ECDSA never. */
export function readPublicKey(router: Pick<RouterState, 'version'>, text: string): PublicKey {
  const [algorithm = '', blob = '', ...owner] = text.trim().split(/\s+/);
  const bytes = Buffer.from(blob, 'base64');
  const named = bytes.length > 4 ? bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1') : '';
  const rest = { owner: owner.join(' '), line: `${algorithm} ${blob}` };
  if (algorithm === 'ssh-rsa' && named === algorithm) return { type: 'rsa', bits: String(rsaBits(bytes)), ...rest };
  if (algorithm === 'ssh-ed25519' && named === algorithm && router.version.atLeast('7.12'))
    return { type: 'ed25519', bits: '256', ...rest };
  throw new Trap(BAD_KEY);
}

/** The modulus is the last field; its leading zero byte is only a sign. */
function rsaBits(bytes: Buffer): number {
  let at = 0;
  let length = 0;
  while (at + 4 <= bytes.length) {
    length = bytes.readUInt32BE(at);
    at += 4 + length;
  }
  return Math.round((length * 8) / 512) * 512;
}

export function addKey(table: ItemTable, user: string, key: PublicKey): string {
  const values: [string, string][] = [
    ['user', user],
    ['bits', key.bits],
    ['key-type', key.type],
    ['key-owner', key.owner],
    ['.key', key.line],
  ];
  return table.add(values).id;
}

function forUser({ router, call }: MenuContext): string {
  const user = call.attributes.get('user') ?? call.session.user;
  if (!router.table('/user').find('name', user)) throw new Trap('input does not match any value of user', 1);
  return user;
}

export const importKey: CustomCommand = {
  parameters: ['public-key-file', 'user', 'key-owner', 'info'],
  policies: ['write', 'policy'],
  run(context): CommandResult {
    const name = context.call.attributes.get('public-key-file');
    if (name === undefined) throw new Trap('missing =public-key-file=');
    const contents = context.router.files.read(name);
    if (!contents) throw new Trap('input does not match any value of public-key-file', 1);
    const user = forUser(context);
    addKey(context.table, user, readPublicKey(context.router, contents.toString('utf8')));
    // The router swallows the file it imported.
    context.router.files.remove(name);
    return { rows: [] };
  },
};

export const KEY_COMMANDS: Readonly<Record<string, CustomCommand>> = {
  add: {
    since: '7.9',
    parameters: ['key', 'user', 'comment', 'copy-from'],
    policies: ['write', 'policy'],
    run(context): CommandResult {
      const key = context.call.attributes.get('key');
      if (key === undefined) throw new Trap('missing =key=');
      return { rows: [], ret: addKey(context.table, forUser(context), readPublicKey(context.router, key)) };
    },
  },
};
