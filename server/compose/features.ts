import { audit } from '../access/audit/feature.ts';
import { identity } from '../access/identity/feature.ts';
import { credentials } from '../access/credentials/feature.ts';
import { revocations } from '../access/revocations/feature.ts';
import { teams } from '../access/teams/feature.ts';
import { views } from '../access/views/feature.ts';
import type { Platform } from '../feature.ts';
import { agents } from '../fleet/agents/feature.ts';
import { availability } from '../fleet/availability/feature.ts';
import { catalog } from '../fleet/catalog/feature.ts';
import type { CatalogService } from '../fleet/catalog/service.ts';
import { devices } from '../fleet/devices/feature.ts';
import { faults } from '../fleet/faults/feature.ts';
import { health } from '../fleet/health/feature.ts';
import { links } from '../fleet/links/feature.ts';
import { history } from '../fleet/history/feature.ts';
import { metadata } from '../fleet/metadata/feature.ts';
import { overview } from '../fleet/overview/feature.ts';
import { removals } from '../fleet/removals/feature.ts';
import { routers } from '../fleet/routers/feature.ts';
import { search } from '../fleet/search/feature.ts';
import { sessions } from '../fleet/sessions/feature.ts';
import { sites } from '../fleet/sites/feature.ts';
import { states } from '../fleet/states/feature.ts';
import { webConsole } from '../operations/console/feature.ts';
import type { ConsoleFiles } from '../operations/console/types.ts';
import { downloads } from '../operations/downloads/feature.ts';
import type { AgentRelease } from '../operations/downloads/types.ts';
import { monitoring } from '../operations/monitoring/feature.ts';
import { nodes } from '../operations/nodes/feature.ts';
import { ownWarnings } from '../operations/own-warnings/feature.ts';
import { retention } from '../operations/retention/feature.ts';
import { events } from '../outbound/events/feature.ts';
import { notifications } from '../outbound/notifications/feature.ts';
import { webhooks } from '../outbound/webhooks/feature.ts';
import { backups } from '../work/backups/feature.ts';
import { campaigns } from '../work/campaigns/feature.ts';
import { commands } from '../work/commands/feature.ts';
import { forwards } from '../work/forwards/feature.ts';
import { jobs } from '../work/jobs/feature.ts';
import { terminals } from '../work/terminals/feature.ts';
import type { UpstreamSettings } from '../access/identity/types.ts';
import { Assembly } from './assembly.ts';
import { announcements } from './wires/announcements.ts';
import { busMeasures } from './wires/bus-measures.ts';
import { callers } from './wires/callers.ts';
import { storeInventory } from './wires/inventory-intake.ts';
import { repeatedPosts } from './wires/repeated-posts.ts';
import { replacedAgents } from './wires/replaced-agents.ts';
import { tunnels } from './wires/tunnels.ts';

/** Values read from files before the features are built. */
export interface Prepared extends Platform {
  catalog: CatalogService;
  /** The upstream identity provider; null without one. */
  upstream: UpstreamSettings | null;
  /** The built web application; null without one. */
  consoleFiles: ConsoleFiles | null;
  /** The agent in one file; null without a build. */
  agentRelease: AgentRelease | null;
}

/**
 * All features of the control plane. The order decides which feature may use which, which starts first and stops last, and which
 * gets agent events first. To add a feature, add its line after the features that it needs.
 */
export function buildFeatures(prepared: Prepared) {
  const all = Assembly.of(prepared)
    .add(audit)
    .add(credentials)
    .add(agents)
    .add(sites)
    .add(repeatedPosts)
    .add(sessions)
    .add(tunnels)
    .add(busMeasures)
    .add(routers)
    // Placed before the features whose changes it publishes, and so stopped after them: a session that ends late still has its event.
    .add(events)
    .add(states)
    .add(links)
    .add(health)
    .add(overview)
    .add(availability)
    .add(search)
    .add(catalog)
    .add(metadata)
    .add(faults)
    .add(history)
    .add(devices)
    .add(commands)
    .add(jobs)
    .add(backups)
    .add(campaigns)
    .add(webhooks)
    .add(forwards)
    .add(terminals)
    .add(replacedAgents)
    .add(revocations)
    .add(removals)
    .add(teams)
    .add(views)
    .add(notifications)
    .add(identity)
    .add(callers)
    .add(ownWarnings)
    .add(retention)
    .add(nodes)
    .add(monitoring)
    .add(webConsole)
    .add(downloads)
    .add(announcements);
  const { services } = all;
  const features = all.complete(services);
  services.agentEvents.connect({
    listeners: features.listeners,
    storeInventory: (connection, inventory) => storeInventory(connection, inventory, services),
  });
  for (const { shares = {}, gauges = [], counts = [], teams = [], histograms = [] } of features.measures) {
    for (const [name, share] of Object.entries(shares)) services.metrics.watch(name, share);
    for (const { name, help, read, labels } of gauges) services.metrics.show(name, help, read, labels);
    for (const metric of counts) services.metrics.count(metric);
    for (const metric of teams) services.metrics.showTeams(metric);
    for (const metric of histograms) services.metrics.observe(metric);
  }
  return { features, services };
}

export type Services = ReturnType<typeof buildFeatures>['services'];
