/** What the OpenAPI documents say before the first operation. */

export const API_DESCRIPTION = {
  title: 'Signalbox',
  version: '1.0.0',
  license: 'MIT',
  description: `Router management: see routers, run commands, queue scripts, open ports for a while.

**Who asks**: \`Authorization: Bearer <token_id>:<team_id>:<secret>\`. A key reaches its own team only; a record of
another team does not exist for it. People sign in with OpenID Connect instead and send their access token as the bearer;
keys and sessions have the same rights and limits. Reading needs the role viewer, commands, jobs and forwards need operator, the rest admin.

**How often**: 60 requests in any 60 seconds for each key unless the server is set up otherwise; the next one is 429 with
\`Retry-After\` and takes no place. \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` are on every answer; the last is in how many
seconds the oldest counted request makes room. Instead of asking again and again, listen at \`GET /api/events\`.

**Lists** are newest first and take \`limit\` and \`cursor\`; the \`Link\` header with \`rel="next"\` leads on.

**Repeating a POST** is safe with the same \`Idempotency-Key\`: the first answer is given again, also one that says that the
outcome is unknown. While the first request is under way a repeat is 409 \`in_progress\` with \`Retry-After\`; after 503 nothing was
done, and it is done anew.

**Errors** all have the form of RFC 9457 (\`application/problem+json\`). \`code\` is the stable word to act on,
\`errors\` names the fields that were refused. Every answer has an \`X-Request-Id\`, which is what the server's log knows it by.`,
  tags: {
    account: 'Who asks, and their password',
    agents: "The programs beside the routers: who they are, and tokens with which new ones enrol",
    'api keys': 'Keys of the team: made, rotated, revoked',
    audit: 'Who changed what, when and from where',
    backups: 'What jobs saved of their routers before and after, and what they changed',
    campaigns: 'One script for many routers: a few first, the rest at a rate, no further when too many fail',
    clients: 'Programs that sign members in and act for them',
    commands: 'One command, now, with its answer in the same request',
    devices: 'What hangs behind the routers, by MAC address, and the names that people give it',
    events: 'What changes, as it changes',
    forwards: 'Ports into the networks behind the routers, for a while and for one source',
    groups: 'Who is told about what',
    jobs: 'Scripts that run once, when their router is there',
    members: 'The people of the team',
    notifications: 'Who is told about what: groups, topics and schedules',
    routers: 'Who they are, where they stand, and what is wrong with them',
    schedules: 'When groups are told',
    sites: 'Where routers stand',
    topics: 'What groups are told about',
    webhooks: 'What `notify_url` was told about a job, and what it is signed with',
  },
} as const;

export const PLANTS_DESCRIPTION = {
  title: 'Plants',
  version: '1.0.0',
  license: 'MIT',
  description: 'A demonstration; nothing is stored.',
  tags: { plants: 'Accepted and forgotten' },
} as const;
