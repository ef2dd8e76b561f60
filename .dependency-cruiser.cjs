// Who may import whom. `protocol` stands alone; agent and server meet only there. In the server:
// core < storage, http, tunnel < features < compose. A rule is relaxed only with its reason in the same commit.
const features = 'agents|routers|jobs|commands|forwards|devices|faults|notifications|catalog|teams|auth|sandbox|campaigns|backups|webhooks|events|audit|identity|idempotency|metadata|status|metrics|places|revocations|retention|removals';
const feature = `^server/(?:${features})/`;
const lib = (names) => `node_modules/(?:${names})(?:/|$)`;
const sql = lib('kysely|better-sqlite3|pg');
const web = lib('fastify|@fastify');
const forbid = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid('no-cycles', {}, { circular: true }),
    forbid('protocol-is-a-leaf', { path: '^protocol/' }, { path: '^(server|agent|scripts|test)/' }),
    // A program of an API user: it knows the control plane only by its OpenAPI document.
    forbid('client-stands-alone', { path: '^client/' }, { path: '^(server|agent|protocol|scripts|test)/' }),
    forbid('client-has-one-door', { path: '^(server|agent|protocol)/' }, { path: '^client/' }),
    forbid('agent-and-server-are-strangers',
      { path: '^(agent|server)/' }, { path: '^(agent|server)/', pathNot: '^$1/' }),
    forbid('protocol-has-one-door',
      { path: '^(server|agent)/' }, { path: '^protocol/', pathNot: '^protocol/index[.]ts$' }),
    forbid('product-knows-no-tests', { path: '^(server|agent|client|protocol)/' }, { path: '^(test|scripts)/' }),

    forbid('core-is-pure', { path: '^server/core/' }, { path: '^server/', pathNot: '^server/core/' }),
    forbid('infrastructure-knows-no-feature',
      { path: '^server/(storage|http|tunnel)/' }, { path: '^server/', pathNot: '^server/($1|core)/' }),
    forbid('features-know-no-tunnel', { path: feature }, { path: '^server/tunnel/' }),
    forbid('only-stores-query', { path: feature, pathNot: '/store[.]ts$' },
      { path: '^server/storage/', dependencyTypesNot: ['type-only'] }),
    forbid('only-routes-know-http', { path: feature, pathNot: '/routes[.]ts$' }, { path: '^server/http/' }),
    forbid('features-meet-at-service-or-types', { path: `^server/(${features})/` },
      { path: feature, pathNot: '^server/(?:$1/.*|[^/]+/(?:service|types)[.]ts)$' }),
    forbid('compose-is-the-top', { path: '^server/', pathNot: '^server/(main|compose|cli/.*)[.]ts$' },
      { path: '^server/(main|compose)[.]ts$' }),

    forbid('agent-parts-are-strangers',
      { path: '^agent/(link|routers)/' }, { path: '^agent/', pathNot: '^agent/(?:$1/|core/)' }),
    // A forward's way to its target leads over the router, so it sees the adapter like jobs and commands do. Routers spell
    // durations the same way in every menu.
    forbid('agent-work-sees-only-the-adapter', { path: '^agent/(jobs|commands|forward|inventory)/' },
      { path: '^agent/', pathNot: '^agent/(?:$1/|core/|routers/(?:adapter|durations)[.]ts$)' }),

    forbid('agent-stays-light', { path: '^(agent|protocol|client)/' }, { path: [web, sql] }),
    forbid('fastify-at-the-edge', { path: '^server/', pathNot: '^server/(http/|compose[.]ts$|[^/]+/routes[.]ts$)' },
      { path: web }),
    // Record types are derived from the schema, so a feature's types may name kysely's; they cannot query with them.
    forbid('sql-in-storage', { path: '^server/', pathNot: '^server/(storage/|.*/store[.]ts$)' },
      { path: sql, dependencyTypesNot: ['type-only'] }),
    forbid('ws-at-two-ends', { path: '^(server|agent|protocol)/',
      pathNot: '^(server/tunnel/gateway|agent/link/dialer)[.]ts$' }, { path: lib('ws') }),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    // TypeScript 7 has no JavaScript API; swc reads the sources and tells type-only imports apart as well. Asking for
    // tsPreCompilationDeps on top would only print that an older TypeScript is missing.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
  },
};
