/** `/tool/e-mail`: sent mails are kept for tests. No mail leaves the simulator. */
import type { Mail } from '../../mail.ts';
import type { CustomCommand, MenuContext } from '../definition.ts';
import { Trap, type CommandResult } from '../types.ts';
import { demandFeature } from './device-mode.ts';

/** Oldest first; a script that mails without end forgets the first ones. */
const MOST_MAILS = 1000;
const MENU = '/tool/e-mail';

export const sendMail: CustomCommand = {
  parameters: ({ version }) => [
    'to',
    'cc',
    'subject',
    'body',
    'file',
    'from',
    'user',
    'password',
    'port',
    'server',
    version.atLeast('7.12') ? 'tls' : 'start-tls',
  ],
  policies: ['read', 'write', 'test'],
  run(context): CommandResult {
    const { router } = context;
    demandFeature(router, 'email');
    const mail = compose(context);
    const isSent = mail.server !== '' && mail.server !== '0.0.0.0';
    const item = router.table(MENU).items[0];
    const [status, address] = isSent ? ['succeeded', mail.server] : ['failed', '0.0.0.0'];
    if (item)
      router.table(MENU).update(item, [
        ['last-status', status],
        ['last-address', address],
      ]);
    if (!isSent) {
      router.log('e-mail,error', `Error sending e-mail <${mail.subject}>: no server`);
      return { rows: [] };
    }
    router.mails.push(mail);
    if (router.mails.length > MOST_MAILS) router.mails.shift();
    return { rows: [] };
  },
};

function compose({ router, call }: MenuContext): Mail {
  const get = (name: string): string => call.attributes.get(name) ?? '';
  if (get('to') === '') throw new Trap('missing =to=');
  const names = get('file')
    .split(',')
    .filter((name) => name !== '');
  const files = names.map((name) => {
    const contents = router.files.read(name);
    if (!contents) throw new Trap(`failure: cannot open file ${name}`);
    return { name, size: contents.length };
  });
  const setting = router.version.atLeast('7.12') ? 'server' : 'address';
  return {
    to: get('to'),
    from: get('from') || router.setting(MENU, 'from'),
    server: get('server') || router.setting(MENU, setting),
    subject: get('subject'),
    body: get('body'),
    files,
  };
}
