export const words = {
  note: 'Places of the team that groups can tell: a Slack channel, a webhook, PagerDuty. People set their own addresses in their profile.',
  add: 'Add a channel',
  table: { label: 'Channels', name: 'Name', kind: 'Kind', leadsTo: 'Leads to', state: 'State', actions: 'Actions' },
  empty: {
    title: 'No channel yet.',
    text: 'A Slack channel, a Microsoft Teams channel, a webhook, PagerDuty, ntfy, Gotify or a Telegram group would be here.',
    add: 'Add one above.',
    ask: 'People with the role admin add channels.',
  },
  state: {
    proved: 'confirmed',
    notProved: 'not confirmed',
    off: 'switched off',
    silent: 'Nothing is sent there.',
    why: (reason: string) => `${reason}. Confirm it again.`,
  },
  act: { prove: 'Confirm', change: 'Change', remove: 'Remove' },
  remove: {
    title: (name: string) => `Remove ${name}?`,
    act: 'Remove the channel',
    unused: 'No group uses it.',
    used: (groups: string) => `It is taken out of ${groups}, and nothing is sent there any more.`,
    forgotten: 'Its address is forgotten.',
    usage: 'Which groups use it',
  },
  new: {
    title: 'Add a channel',
    act: 'Add it',
    kind: 'Kind',
    name: 'Name',
    nameHint: 'As your team calls it: #noc, Night shift, Ticket system',
  },
  optional: (field: string) => `${field}, if there is one`,
  change: {
    title: (name: string) => `Change ${name}`,
    act: 'Save',
    name: 'Name',
    address: 'Give it another address. Nothing is sent there until it is confirmed',
  },
  prove: {
    title: (name: string) => `Confirm ${name}`,
    about: (address: string) =>
      `A message with six digits is sent to ${address}. Read it there and type it in: that confirms that the address is right, and yours.`,
    sending: 'It is being sent; the receiver has 15 seconds to take it.',
    send: { digits: 'Send the code', link: 'Send the link' },
    another: { digits: 'Send another code', link: 'Send another link' },
    sent: {
      digits: 'Sent. The code can be used until {time}.',
      link: 'Sent. Open the link in the mail and press the button there, until {time}.',
    },
    /** The reason follows. */
    notSent: 'Not sent:',
    says: (detail: string) => `It says: ${detail}`,
    code: 'The six digits',
    act: 'Confirm it',
  },
};
