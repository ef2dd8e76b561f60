// Who may import whom, checked by `npm test`.
//
//   runtime, routeros-text  <  protocol  <  agent | server          client knows neither: it has the HTTP interface only
//   server: platform/core  <  platform/*  <  features  <  compose  <  main, cli
//   features: fleet  <  work  <  access  <  outbound          operations knows none of them
//
// A feature is a folder in one of the server's rooms. The list is read from the disk, so that no feature can be forgotten.
// A rule is relaxed only with its reason in the same commit.
const { readdirSync } = require('node:fs');
const path = require('node:path');

const rooms = ['fleet', 'work', 'access', 'outbound', 'operations'];
const foldersOf = (folder) =>
  readdirSync(path.join(__dirname, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
const unknown = foldersOf('server').filter((name) => ![...rooms, 'platform', 'compose', 'cli'].includes(name));
if (unknown.length > 0)
  throw new Error(`server/${unknown[0]}: put it into a room (${rooms.join(', ')}) or name the room in .dependency-cruiser.cjs`);

const room = `server/(?:${rooms.join('|')})`;
const feature = `^${room}/[^/]+/`;
const infrastructureFolders = foldersOf('server/platform').filter(
  (name) => !['core', 'idempotency', 'nodes', 'notices', 'request-counts'].includes(name),
);
const infrastructure = `server/platform/(?:${infrastructureFolders.join('|')})`;
const lib = (names) => `node_modules/(?:${names})(?:/|$)`;
const sql = lib('kysely|better-sqlite3|pg');
const web = lib('fastify|@fastify');
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true }),
    forbid('runtime-is-a-leaf', { path: '^runtime/' }, { path: '^(server|agent|client|protocol|routeros-text|scripts|test)/' }),
    forbid('routeros-text-is-a-leaf', { path: '^routeros-text/' }, { path: '^(server|agent|client|protocol|runtime|scripts|test)/' }),
    forbid('protocol-knows-no-program', { path: '^protocol/' }, { path: '^(server|agent|client|scripts|test)/' }),
    // A program of an API user: it knows the control plane only by its OpenAPI document.
    forbid('client-stands-alone', { path: '^client/' }, { path: '^(server|agent|protocol|routeros-text|scripts|test)/' }),
    // A web page: what it can do, a program of an API user can do, too.
    forbid('console-uses-the-public-interface', { path: '^console/src/' }, { path: '^(?!console/|node_modules/|client/browser[.]ts$)' }),
    forbid('console-stays-in-the-browser', { path: '^(?!console/)' }, { path: '^console/' }),
    forbid('client-has-one-door', { path: '^(server|agent|protocol)/' }, { path: '^client/' }),
    forbid('agent-and-server-are-strangers', { path: '^(agent|server)/' }, { path: '^(agent|server)/', pathNot: '^$1/' }),
    forbid('protocol-has-one-door', { path: '^(server|agent)/' }, { path: '^protocol/', pathNot: '^protocol/index[.]ts$' }),
    forbid('product-knows-no-tests', { path: '^(server|agent|client|protocol|runtime|routeros-text)/' }, { path: '^(test|scripts)/' }),

    forbid('core-is-pure', { path: '^server/platform/core/' }, { path: '^server/', pathNot: '^server/platform/core/' }),
    forbid(
      'infrastructure-knows-no-feature',
      { path: `^(${infrastructure})/` },
      { path: '^server/', pathNot: '^(?:$1|server/platform/core)/' },
    ),
    // Kept answers, counts of requests and notices are tables, and nobody's feature. Every feature may write a notice in its own transaction.
    forbid(
      'shared-tables-know-storage-only',
      { path: '^server/platform/(idempotency|notices|request-counts)/' },
      { path: '^server/', pathNot: '^server/platform/(?:$1|core|storage)/' },
    ),
    // The control planes of a database: who they are is in a table, what they ask each other goes over the bus.
    forbid(
      'nodes-know-storage-and-bus-only',
      { path: '^server/platform/nodes/' },
      { path: '^server/', pathNot: '^server/platform/(?:nodes|core|storage|bus)/' },
    ),
    forbid(
      'nats-in-bus',
      { path: '^(server|agent|client|protocol|console)/', pathNot: '^server/platform/bus/' },
      { path: lib('@nats-io') },
    ),
    forbid('features-know-no-tunnel', { path: `^${room}/` }, { path: '^server/platform/tunnel/' }),
    forbid(
      'only-stores-query',
      { path: feature, pathNot: '/store[.]ts$' },
      { path: '^server/platform/storage/', dependencyTypesNot: ['type-only'] },
    ),
    forbid('only-routes-know-http', { path: feature, pathNot: '/(?:routes|feature)[.]ts$' }, { path: '^server/platform/http/' }),
    // A feature's services, routes and the rest are put together in its feature.ts, and nowhere else.
    forbid(
      'compose-sees-features-by-their-feature-ts',
      { path: '^server/compose/' },
      { path: feature, pathNot: '/feature[.]ts$', dependencyTypesNot: ['type-only'] },
    ),
    forbid('feature-ts-is-for-compose', { path: '^server/', pathNot: '^server/compose/' }, { path: `${feature}feature[.]ts$` }),
    // config, version and feature.ts: settings and words that every room may use.
    forbid(
      'root-files-know-core-only',
      { path: '^server/[^/]+[.]ts$', pathNot: '^server/main[.]ts$' },
      { path: '^server/[^/]+/', pathNot: '^server/platform/core/', dependencyTypesNot: ['type-only'] },
    ),
    forbid('root-files-know-no-feature', { path: '^server/[^/]+[.]ts$', pathNot: '^server/main[.]ts$' }, { path: feature }),
    forbid(
      'only-feature-ts-reads-settings',
      { path: feature, pathNot: '/feature[.]ts$' },
      { path: '^server/config', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'features-meet-at-service-or-types',
      { path: `^(${room}/[^/]+)/` },
      { path: feature, pathNot: `^(?:$1/.*|${room}/[^/]+/(?:service|types)[.]ts)$` },
    ),
    // The exceptions: a removal ends a router's jobs and forwards in its own transaction; agents show their enrolment tokens and their
    // secret; a connection through a forward is in the audit log.
    forbid(
      'fleet-is-the-lowest-room',
      { path: '^server/fleet/', pathNot: '^server/fleet/(?:removals|agents/(?:routes|feature)|routers/feature)' },
      { path: '^server/(?:work|access|outbound|operations)/' },
    ),
    forbid('removals-know-work-only', { path: '^server/fleet/removals/' }, { path: '^server/(?:access|outbound|operations)/' }),
    forbid(
      'work-knows-fleet-only',
      { path: '^server/work/' },
      { path: '^server/(?:access|outbound|operations)/', pathNot: '^server/access/audit/' },
    ),
    forbid('access-knows-fleet-and-work-only', { path: '^server/access/' }, { path: '^server/(?:outbound|operations)/' }),
    forbid('outbound-knows-fleet-and-work-only', { path: '^server/outbound/' }, { path: '^server/(?:access|operations)/' }),
    forbid('operations-know-no-room', { path: '^server/operations/' }, { path: '^server/(?:fleet|work|access|outbound)/' }),
    forbid('one-writer-of-agents', { path: feature, pathNot: '^server/fleet/agents/' }, { path: '^server/fleet/agents/store[.]ts$' }),
    forbid(
      'compose-is-the-top',
      { path: '^server/', pathNot: '^server/(main[.]ts$|compose/|cli/)' },
      { path: '^server/(main[.]ts$|compose/|cli/)' },
    ),

    forbid('agent-parts-are-strangers', { path: '^agent/(link|routers)/' }, { path: '^agent/', pathNot: '^agent/(?:$1/|core/)' }),
    // A forward's way to its target leads over the router, so it sees the adapter like jobs and commands do.
    forbid(
      'agent-work-sees-only-the-adapter',
      { path: '^agent/(jobs|commands|forward|telemetry)/' },
      { path: '^agent/', pathNot: '^agent/(?:$1/|core/|routers/adapter[.]ts$)' },
    ),

    forbid('agent-stays-light', { path: '^(agent|protocol|runtime|routeros-text|client)/' }, { path: [web, sql] }),
    forbid('fastify-at-the-edge', { path: '^server/', pathNot: `^server/(platform/http/|compose/|.*/routes[.]ts$)` }, { path: web }),
    // Record types are derived from the schema, so a feature's types may name kysely's; they cannot query with them.
    forbid(
      'sql-in-storage',
      { path: '^server/', pathNot: '^server/(platform/storage/|.*/store[.]ts$)' },
      { path: sql, dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'ws-at-two-ends',
      { path: '^(server|agent|protocol)/', pathNot: '^(server/platform/tunnel/endpoint|agent/link/dialer)[.]ts$' },
      { path: lib('ws') },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    // TypeScript 7 has no JavaScript API; swc reads the sources and tells type-only imports apart as well. Asking for
    // tsPreCompilationDeps on top would only print that an older TypeScript is missing.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
  },
};
