export const words = {
  note: 'A job can name a webhook for its updates: notify_url in the interface, “Webhook for its updates” in the form of a script. Each change of its status is reported there. The receiver checks the signature with this secret, as Standard Webhooks describes it.',
  make: { first: 'Make a secret', another: 'Make a new secret' },
  once: {
    title: 'Webhook secret',
    label: 'the secret',
    text: 'Give it to everything that receives job updates of this team. It is shown only now. Lost it? Make another.',
  },
  secret: 'The secret',
  none: 'There is no secret yet: the first job with a webhook makes one, or you do now.',
  of: 'The secret is of {time}.',
  unseen: 'It was made by itself for the first update, and nobody has seen it: make a new one to check signatures.',
  previous: 'Updates are also signed with the previous one until {time}.',
  dialog: {
    title: 'Make a new webhook secret',
    firstTitle: 'Make a webhook secret',
    act: 'Make a new secret',
    firstAct: 'Make the secret',
    overlap: 'Updates are also signed with the old secret for',
    overlapHint: 'Long enough to give every receiver the new one.',
    first: 'It is shown once. Give it then to everything that receives job updates of this team.',
  },
};
