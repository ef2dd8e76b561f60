/** The introduction of the OpenAPI documents. */

export const API_DESCRIPTION = {
  title: 'Signalbox',
  version: '1.0.0',
  license: 'MIT',
  description: `See routers, run commands, queue scripts, and open ports for a limited time.

**Credentials**: send \`Authorization: Bearer <token_id>:<team_id>:<secret>\`. An API key reaches only its own team; another team's
record is answered as one that does not exist. People sign in with OpenID Connect and send their access token as the bearer; API keys
and sessions have the same rights and limits. The role viewer may read, operator may also run commands, jobs and forwards, admin may do
everything.

**Rate limit**: 60 requests in any 60 seconds for each API key and person, unless the operator has set another limit. The next request
is refused with 429 and \`Retry-After\`, and does not count. Every answer has \`RateLimit-Limit\`, \`RateLimit-Remaining\` and
\`RateLimit-Reset\`, the seconds until the oldest counted request leaves the window. Use \`GET /api/events\` instead of polling.

**Lists** are sorted newest first and take \`limit\` and \`cursor\`. The \`Link\` header with \`rel="next"\` has the address of the next
page.

**Repeating a POST or PATCH** is safe with the same \`Idempotency-Key\`: it gets the first answer again, also one that says that the outcome is
unknown. While the first request is running, a repeat gets 409 \`in_progress\` with \`Retry-After\`. After 503 nothing was done, and a
repeat is a new attempt.

**Errors** have the form of RFC 9457 (\`application/problem+json\`). Act on \`code\`, which is stable. \`errors\` names the fields that
were refused. Every answer has an \`X-Request-Id\`, which is also in the server's log.`,
  tags: {
    account: 'The signed-in person and their password',
    agents: 'Agents and the tokens with which new ones enrol',
    'api keys': 'API keys of the team',
    audit: 'Who changed what, when and from where',
    backups: 'Configurations saved before and after a job, and their differences',
    campaigns: 'One script on many routers: a few first, the rest at a rate, stopping when too many fail',
    clients: 'OpenID clients that sign members in and act for them',
    commands: 'One command at once, with its answer in the same request',
    devices: 'Devices behind the routers, by MAC address, and their names',
    events: 'A stream of changes as they happen',
    forwards: 'Ports into the networks behind the routers, for a limited time and one source network',
    groups: 'Who is notified about what',
    jobs: 'Scripts that run once, as soon as their router is connected',
    members: 'Members of the team and invitations',
    nodes: 'Control planes that serve the database, for administrators of the installation',
    notifications: 'Who is notified about what: groups, topics and schedules',
    routers: 'Routers, their sites and their faults',
    schedules: 'When groups are notified',
    sites: 'Locations of routers',
    terminals: 'Shells of routers for people, recorded',
    topics: 'What groups are notified about',
    webhooks: 'Deliveries to `notify_url`, and the secret that signs them',
  },
} as const;

export const PLANTS_DESCRIPTION = {
  title: 'Plants',
  version: '1.0.0',
  license: 'MIT',
  description: 'A demonstration that stores nothing.',
  tags: { plants: 'Plants, which are not stored' },
} as const;
