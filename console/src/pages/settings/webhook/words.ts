export const words = {
  note: 'A job with a notify_url reports each change of its status there. The receiver checks the signature with this secret, as Standard Webhooks describes it.',
  make: 'Make a new secret',
  once: {
    title: 'Webhook secret',
    label: 'the secret',
    text: 'Give it to everything that receives job updates of this team. It is shown only now. Lost it? Make another.',
  },
  secret: 'The secret',
  none: 'There is no secret yet: the first job with a notify_url makes one, or you do now.',
  of: 'The secret is of {time}.',
  unseen: 'It was made by itself for the first update, and nobody has seen it: make a new one to check signatures.',
  previous: 'Updates are also signed with the previous one until {time}.',
  dialog: {
    title: 'Make a new webhook secret',
    act: 'Make a new secret',
    overlap: 'Updates are also signed with the old secret for',
    overlapHint: 'Long enough to give every receiver the new one.',
  },
};
